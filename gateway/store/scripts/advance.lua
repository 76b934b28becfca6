-- Promise  An operator ends whoever writes now: every epoch below the new one is refused, its lease is gone.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 epoch ('' for the next, not behind the clock), 3 id of this request, 4 the largest epoch that
--          this gateway has seen for the resource, 5 by whom
-- Returns  {advanced, now, e}; or a refusal {stale-epoch or epochs-exhausted, now, e, h, x, n}
-- Writes   f (e, a, g), t and o, a and n; w when it wakes

local resource, wanted, request = ARGV[1], ARGV[2], ARGV[3]

local now = clock.read()
local e, a, h = unpack(redis.call('HMGET', K.fence, 'e', 'a', 'h'))
redis.call('HLEN', K.tickets)
redis.call('HLEN', K.older)
redis.call('HLEN', K.waiters)
audit.check()

-- Its own repeat.
if a == request then
  return { 'advanced', now, e }
end

local epoch, seen = wanted, ARGV[4]
if epochs.less(e or '0', seen) and losses.behind_by_right(e, seen, '', now) then
  seen = '0'
end
if wanted == '' then
  epoch = epochs.fresh(e, seen, now)
end
if not epoch then
  return epochs.refusal('epochs-exhausted', now)
end

if e and not epochs.less(e, epoch) then
  return epochs.refusal('stale-epoch', now)
end

epochs.raise(epoch, 'a', request)
-- Nothing below the operator's floor goes out: not even what was queued under a lease that was given back.
redis.call('HDEL', K.fence, 'g')
local above = e and 'above epoch ' .. e .. (h and ' of ' .. h or '') or 'the first epoch'
audit.note_epoch(resource, epoch, '', 'advanced', above, ARGV[5] or '')
waiters.wake_all(resource)
return { 'advanced', now, epoch }
