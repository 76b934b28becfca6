-- Promise  Nothing is sent that no policy takes any more: the head of a queue ends, and its request is kept for an
--          operator. An approval that it has stays unused.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 the intent's id, of what was taken 3 the epoch and 4 the keeping, 5 why, 6 gateway, 7 for how
--          many ms what was queued just now is left alone: whoever took it may have read newer policies
-- Returns  {failed, now}; {early, now} where it is due again in a second, or is no longer what was taken
-- Writes   q; and of one that ends i, r, k, q:, s, a and n, f (g)

local resource, id = ARGV[1], ARGV[2]

local now = clock.read()
local record = intents.read(id)
redis.call('HGET', K.fence, 'g')
intents.check_parked(resource, id)
intents.check('queued', 'failed')
if not intents.is_as_taken(record, ARGV[3], ARGV[4]) then
  return { 'early', now }
end

local told = words.read(record.parking)
if now - told.since < tonumber(ARGV[7]) then
  redis.call('ZADD', K.shard .. 'q', 'XX', clock.text(now + 1000), resource)
  return { 'early', now }
end

told.unused = told.approval and '1'
intents.park_as(record, told)
intents.step(record, 'failed', now, ARGV[5], ARGV[6])
return { 'failed', now }
