-- Promise  An operator ends whoever writes now: every epoch below the new one is refused, its lease is gone.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 epoch ('' for the next), 3 id of this request, 4 the largest epoch that this gateway has seen
--          for the resource, 5 in which era that is, 6 by whom; for the next one 7 by-clock where it may not be behind
--          the clock, '' for the next number, and 8 the highest epoch that the caller knows, '' for not yet; 9 when the
--          call has been given up, as in grant.lua
-- Returns  {advanced, now, e}; {seen, now, what to call with as 8}; or a refusal {stale-epoch, epochs-exhausted,
--          other-era or late, now, e, h, x, n}
-- Writes   f (e, a, g), t and o, a and n; w when it wakes

local resource, wanted, request = ARGV[1], ARGV[2], ARGV[3]

local now = clock.read()
local e, a, h, b, r, m = unpack(redis.call('HMGET', K.fence, 'e', 'a', 'h', 'b', 'r', 'm'))
redis.call('HLEN', K.tickets)
redis.call('HLEN', K.older)
redis.call('HLEN', K.waiters)
audit.check()

-- Its own repeat.
if a == request then
  return { 'advanced', now, e }
end

if epochs.era(e, b, r, m) ~= ARGV[5] then
  return epochs.refusal('other-era', now)
end

-- Its connection stood still until it was given up.
if now > tonumber(ARGV[9]) then
  return epochs.refusal('late', now)
end

-- A call that is executed late does not end the lease of who has come since: it was about the epoch before.
if wanted == '' and ARGV[8] ~= (e or '0') then
  return { 'seen', now, e or '0' }
end

local epoch = wanted
if wanted == '' then
  epoch = ARGV[7] == '' and epochs.next(epochs.larger(e or '0', ARGV[4])) or epochs.fresh(e, ARGV[4], now)
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
audit.note_epoch(resource, epoch, '', 'advanced', above, ARGV[6])
waiters.wake_all(resource)
return { 'advanced', now, epoch }
