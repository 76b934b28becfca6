-- Promise  Of all deliverers one has the head of a resource's queue, for a while; nothing is taken past it. What was
--          overtaken, or is too old, leaves the queue.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 gateway, 3 for how many ms it is taken
-- Returns  {taken, now, request, the bytes that it occupies, the record's fields and their values in turn};
--          {superseded or failed, now, the same fields} for one that ended here; {early, now} where nothing is to be
--          done now, {empty, now} where nothing is queued
-- Writes   q; and of one that ends i, r, k, q:, s, a and n, f (g)

local resource, gateway = ARGV[1], ARGV[2]

local now = clock.read()
local highest, released = unpack(redis.call('HMGET', K.fence, 'e', 'g'))
local due = redis.call('ZSCORE', KEYS[7] .. 'q', resource)
local queue = KEYS[7] .. 'q:' .. resource
local id = redis.call('LINDEX', queue, 0)
local record = id and intents.read(id)
intents.check_parked(resource, id or '')
intents.check('queued', 'superseded', 'failed')
if not due then
  return { 'empty', now }
end

if tonumber(due) > now then
  return { 'early', now }
end

-- Another one delivers it. If that one died, its ticket is swept, and the next is due.
if record and record.state == 'in_flight' then
  redis.call('ZADD', KEYS[7] .. 'q', clock.text(now + ARGV[3]), resource)
  return { 'early', now }
end

-- A failover brought back a queue that is older than what became of its head.
if not record or record.state ~= 'queued' then
  redis.call('LPOP', queue)
  intents.move_head(resource, now)
  return { 'early', now }
end

local function ended(state, why)
  intents.step(record, state, now, why, gateway)
  return { state, now, unpack(intents.shown(record)) }
end

if intents.is_overtaken(record, highest, released) then
  return ended('superseded', 'a newer epoch rules')
end

if now - words.read(record.parking).since > record.retain then
  return ended('failed', 'it was not delivered in its time; last: ' .. record.reason)
end

local request, size = unpack(redis.call('HMGET', KEYS[7] .. 'r:' .. id, 'request', 'size'))
if not request then
  return ended('failed', 'its request was lost')
end

redis.call('ZADD', KEYS[7] .. 'q', clock.text(now + ARGV[3]), resource)
return { 'taken', now, request, size, unpack(intents.shown(record)) }
