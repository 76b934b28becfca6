-- Promise  Of all gateways one sends a notification at a time. One that dies with it is followed by another: it is sent
--          at least once, under the same id.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the notification's id, 2 its upstream, 3 for how many ms it is claimed, 4 the call's own id
-- Returns  {claimed, now, its fields and their values in turn}; {ended, now} where it is not to be sent any more;
--          {early, now} where another gateway has claimed it
-- Writes   m and l

local id, member = ARGV[1], ARGV[1] .. ' ' .. ARGV[2]

local now = clock.read()
local due = redis.call('ZSCORE', K.shard .. WAITING, member)
local attempts, by = unpack(redis.call('HMGET', K.shard .. NOTIFICATION .. id, 'attempts', 'by'))
if not due or not attempts then
  redis.call('ZREM', K.shard .. WAITING, member)
  return { 'ended', now }
end

-- Its own repeat: the reply was lost.
if tonumber(due) > now and by == ARGV[4] then
  return { 'claimed', now, unpack(letters.shown(id)) }
end

if tonumber(due) > now then
  return { 'early', now }
end

redis.call('HSET', K.shard .. NOTIFICATION .. id, 'attempts', attempts + 1, 'by', ARGV[4])
redis.call('ZADD', K.shard .. WAITING, clock.text(now + ARGV[3]), member)
return { 'claimed', now, unpack(letters.shown(id)) }
