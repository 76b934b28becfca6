-- Promise  What is in quarantine goes when an operator says so, and the trail says who and why.
-- KEYS     as in parts/epoch.lua; only the last two are used, so that any resource of the shard will do
-- ARGV     1 id, 2 note, 3 by whom
-- Returns  {dropped, now, how many bytes that frees}; or {unseen, now, 0}
-- Writes   r, k, a and n

local id = ARGV[1]

local now = clock.read()
audit.check()
for _, entry in ipairs(kept.entries('quarantine')) do
  if entry.id == id then
    local told = kept.told(id)
    kept.drop('quarantine', id)
    audit.note(told, 'quarantined', 'dropped', ARGV[2], ARGV[3])
    return { 'dropped', now, entry.size }
  end
end
return { 'unseen', now, 0 }
