-- Promise  An operator forgets the epoch of a resource, as of one that has no larger one left: whoever comes next
--          begins anew, also where the store has lost what gateways remember. G3 and G4 hold: only while nothing of it
--          is in flight, or waits to be sent.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 note, 3 by whom, 4 the era that is to end ('' where the caller does not know it yet), 5 up to
--          where the shard's approvals were looked at ('' for not yet), 6 how many of the resource were found there,
--          7 the epoch that was looked at ('' for whichever it is)
-- Returns  {reset, now, the epoch that is forgotten ('0' for none), the era that has begun}; {unseen or
--          store-regressed, now}; {other-epoch, now, the highest}; {seen, now, what to call with as 4};
--          {in-use, now, how many of it are in flight, how many wait to be sent};
--          {counted, now, what to call with as 5 and 6} where there are more approvals than one step looks at
-- Writes   f (r, b; e, m and what belongs to them go), a and n; w when it wakes

local resource = ARGV[1]

local now, micros = clock.read()
local e, began, forgotten, most = unpack(redis.call('HMGET', K.fence, 'e', 'b', 'r', 'm'))
local era = epochs.era(e, began, forgotten, most)
local in_flight = redis.call('HLEN', K.tickets) + redis.call('HLEN', K.older) + tickets.unfinished(nil, now).left
local queued = redis.call('LLEN', K.shard .. 'q:' .. resource)
local loss = losses.read()
redis.call('HLEN', K.waiters)
audit.check()

if ARGV[4] == '' then
  return { 'seen', now, era }
end

-- It is executed twice, whatever came in between: what another reset let in is not forgotten by this one.
if era ~= ARGV[4] then
  return { 'reset', now, forgotten or '0', era }
end

-- Its own repeat, where it was reset: the reply was lost. After a loss a gateway may remember what the store does not.
if not e and not loss then
  return forgotten and { 'reset', now, forgotten, era } or { 'unseen', now }
end

if e and ARGV[7] ~= '' and e ~= ARGV[7] then
  return { 'other-epoch', now, e }
end

if loss and loss.open then
  return { 'store-regressed', now }
end

local awaiting, last = intents.awaiting(resource, ARGV[5])
awaiting = awaiting + ARGV[6]
if last then
  return { 'counted', now, last, clock.text(awaiting) }
end

queued = queued + awaiting
if in_flight + queued > 0 then
  return { 'in-use', now, in_flight, queued }
end

-- Larger than all before it, also where the clock was set back. The first write may be refused for want of memory.
era = epochs.larger(string.format('%.0f', micros), epochs.next(era))
redis.call('HSET', K.fence, 'v', '1', 'r', epochs.larger(e or '0', forgotten or '0'), 'b', era)
redis.call('HDEL', K.fence, 'e', 'h', 'w', 'q', 'a', 's', 'k', 'x', 'l', 'y', 'c', 'g', 'm')
audit.note_epoch(resource, e or '', '', 'reset', ARGV[2], ARGV[3])
waiters.wake_all(resource)
return { 'reset', now, e or '0', era }
