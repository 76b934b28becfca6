-- Promise  An operator forgets the epoch of a resource, as of one that has no larger one left: whoever comes next
--          begins anew. G3 and G4 hold: only while nothing of it is in flight, or waits to be sent.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 note, 3 by whom, 4 up to where the shard's approvals were looked at ('' for not yet), 5 how
--          many of the resource were found there
-- Returns  {reset, now, the epoch that is forgotten, the era that has begun}; {unseen or store-regressed, now};
--          {in-use, now, how many of it are in flight, how many wait to be sent}; {counted, now, what to call with as
--          4 and 5} where there are more approvals than one step looks at
-- Writes   f (r, b; e and what belongs to it go), a and n; w when it wakes

local resource = ARGV[1]

local now, micros = clock.read()
local e, forgotten, began = unpack(redis.call('HMGET', K.fence, 'e', 'r', 'b'))
local era = epochs.era(began, forgotten)
local in_flight = redis.call('HLEN', K.tickets) + redis.call('HLEN', K.older)
local queued = redis.call('LLEN', K.shard .. 'q:' .. resource)
local loss = losses.read()
redis.call('HLEN', K.waiters)
audit.check()

if not e then
  -- Its own repeat, where it was reset: the reply was lost.
  return forgotten and { 'reset', now, forgotten, era } or { 'unseen', now }
end

if loss and loss.open then
  return { 'store-regressed', now }
end

local awaiting, last = intents.awaiting(resource, ARGV[4])
awaiting = awaiting + (ARGV[5] or 0)
if last then
  return { 'counted', now, last, clock.text(awaiting) }
end

queued = queued + awaiting
if in_flight + queued > 0 then
  return { 'in-use', now, in_flight, queued }
end

-- Larger than all before it, also where the clock was set back. The first write may be refused for want of memory.
era = epochs.larger(string.format('%.0f', micros), epochs.next(era))
redis.call('HSET', K.fence, 'v', '1', 'r', epochs.larger(e, forgotten or '0'), 'b', era)
redis.call('HDEL', K.fence, 'e', 'h', 'w', 'q', 'a', 's', 'k', 'x', 'l', 'c', 'g')
audit.note_epoch(resource, e, '', 'reset', ARGV[2], ARGV[3])
waiters.wake_all(resource)
return { 'reset', now, e, era }
