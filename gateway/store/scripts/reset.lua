-- Promise  An operator forgets the epoch of a resource, as of one that has no larger one left: whoever comes next
--          begins anew. G3 and G4 hold: only while nothing of it is in flight, or waits to be sent.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 note, 3 by whom
-- Returns  {reset, now, the epoch that is forgotten}; {unseen or store-regressed, now}; {in-use, now, how many of it
--          are in flight, how many wait to be sent}
-- Writes   f (r; e and what belongs to it go), a and n; w when it wakes

local resource = ARGV[1]

local now = clock.read()
local e, forgotten = unpack(redis.call('HMGET', K.fence, 'e', 'r'))
local in_flight = redis.call('HLEN', K.tickets) + redis.call('HLEN', K.older)
local queued = redis.call('LLEN', K.shard .. 'q:' .. resource)
local loss = losses.read()
redis.call('HLEN', K.waiters)
audit.check()

if not e then
  -- Its own repeat, where it was reset: the reply was lost.
  return forgotten and { 'reset', now, forgotten } or { 'unseen', now }
end

if loss and loss.open then
  return { 'store-regressed', now }
end

queued = queued + intents.awaiting(resource)

if in_flight + queued > 0 then
  return { 'in-use', now, in_flight, queued }
end

-- The first write may be refused for want of memory.
redis.call('HSET', K.fence, 'v', '1', 'r', epochs.larger(e, forgotten or '0'))
redis.call('HDEL', K.fence, 'e', 'h', 'w', 'q', 'a', 's', 'k', 'x', 'l', 'c', 'g')
audit.note_epoch(resource, e, '', 'reset', ARGV[2], ARGV[3])
waiters.wake_all(resource)
return { 'reset', now, e }
