-- Promise  A released token is dead for good; released a second time it answers as the first time.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 epoch, 3 digest of the secret, 4 gateway
-- Returns  {released, now, e, h, 0, 0, older writes in flight}; or a refusal {lease-lost or token-invalid, now, e, h,
--          x, n}
-- Writes   f (x becomes 0, l and k go), a and n; w when it wakes

local resource, epoch, secret, gateway = ARGV[1], ARGV[2], ARGV[3], ARGV[4] or ''

local now = clock.read()
local e, h, s, x = unpack(redis.call('HMGET', K.fence, 'e', 'h', 's', 'x'))
local in_flight = redis.call('HLEN', K.older) + tickets.unfinished(e, now).left
redis.call('HLEN', K.waiters)
audit.check()

if e and epochs.less(epoch, e) then
  return epochs.refusal('lease-lost', now)
end

if epoch ~= e or s ~= secret then
  return epochs.refusal('token-invalid', now)
end

-- One that ran out and that nobody has overtaken is released like a live one.
if x ~= '0' then
  redis.call('HSET', K.fence, 'x', '0')
  redis.call('HDEL', K.fence, 'l', 'k')
  local left = tonumber(x) - now
  local when = left > 0 and 'with %.1f s left' or '%.1f s after it ran out'
  audit.note_epoch(resource, e, h or '', 'released', string.format(when, math.abs(left) / 1000), gateway)
  waiters.wake_all(resource)
end
return { 'released', now, e, h, '0', '0', in_flight }
