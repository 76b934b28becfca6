-- Promise  What is kept is counted as it is: an entry whose record has expired leaves its list.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the purpose for which requests are kept
-- Returns  {recounted, now, how many bytes the shard keeps}
-- Writes   k

local now = clock.read()
local bytes = 0
for _, entry in ipairs(kept.entries(ARGV[1])) do
  bytes = bytes + entry.size
end
return { 'recounted', now, bytes }
