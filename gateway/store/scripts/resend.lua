-- Promise  An operator has a notification sent now, whatever became of it so far.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the notification's id
-- Returns  {resent, now, its fields and their values in turn}; {unseen, now} where it is gone
-- Writes   m and l

local id = ARGV[1]

local now = clock.read()
local upstream = redis.call('HGET', K.shard .. NOTIFICATION .. id, 'upstream')
letters.check()
if not upstream then
  return { 'unseen', now }
end

letters.raise(id, upstream, now)
return { 'resent', now, unpack(letters.shown(id)) }
