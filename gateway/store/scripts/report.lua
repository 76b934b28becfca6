-- Promise  A notification goes once its receiver has it; until then it is tried again, and in the end a dead letter.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the notification's id, 2 its upstream, 3 the attempt that this is about, 4 received, again or dead, 5 why
--          it failed, 6 in how many ms it is due again
-- Returns  {reported, now}; {ended, now} where it is gone, or another attempt has begun since
-- Writes   m and l

local id, member, outcome = ARGV[1], ARGV[1] .. ' ' .. ARGV[2], ARGV[4]

local now = clock.read()
local attempts = redis.call('HGET', K.shard .. NOTIFICATION .. id, 'attempts')
letters.check()
if outcome == 'received' then
  redis.call('DEL', K.shard .. NOTIFICATION .. id)
  redis.call('ZREM', K.shard .. WAITING, member)
  redis.call('ZREM', K.shard .. DEAD, id)
  return { 'reported', now }
end

if attempts ~= ARGV[3] then
  return { 'ended', now }
end

if outcome == 'dead' then
  letters.bury(id, member, ARGV[5], now)
else
  redis.call('HSET', K.shard .. NOTIFICATION .. id, 'failure', ARGV[5])
  redis.call('ZADD', K.shard .. WAITING, clock.text(now + ARGV[6]), member)
end
return { 'reported', now }
