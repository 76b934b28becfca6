-- Promise  Of all gateways one asks the upstream about an unknown intent, again and again at growing distances.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the intent's id, 2 the longest distance between two questions in ms, 3 ms for which a write may be in
--          flight
-- Returns  {asked, now, since when no attempt of it is in flight, its fields and their values in turn}; {ended, now}
--          where nothing is to be asked; {early, now} where another gateway has just asked
-- Writes   p and i

local id = ARGV[1]

local now = clock.read()
local due = redis.call('ZSCORE', K.shard .. 'p', id)
local record = intents.read(id)
if not record or record.state ~= 'unknown' then
  redis.call('ZREM', K.shard .. 'p', id)
  return { 'ended', now }
end

if not due or tonumber(due) > now then
  return { 'early', now }
end

record.asked = record.asked + 1
intents.keep(record)
local distance = math.min(record.query * 2 ^ record.asked, tonumber(ARGV[2]))
redis.call('ZADD', K.shard .. 'p', clock.text(now + distance), id)
-- A store that has lost work may have it as it was long ago, and it was tried again since.
local loss = losses.read()
local since = loss and math.max(record.updated_at, losses.lands_at(loss, ARGV[3])) or record.updated_at
return { 'asked', now, clock.text(since), unpack(intents.shown(record)) }
