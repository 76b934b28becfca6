-- Promise  Only the live token renews: an expired, released or overtaken lease never comes back.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 epoch, 2 digest of the secret, 3 ms for which a write may be in flight, 4 expected store ms, 5 what the
--          gateway knows of the clock's last step, as in parts/epoch.lua ('' for nothing), 6 when the call has been
--          given up, as in grant.lua
-- Returns  {renewed, now, e, h, l, x, older writes in flight, ms that were left}; or a refusal {word, now, e, h, x, n}:
--          lease-lost, token-invalid, late
-- Writes   f (x, y)

local epoch, secret = ARGV[1], ARGV[2]

local now = clock.read()
local e, h, s, x, l, y = unpack(redis.call('HMGET', K.fence, 'e', 'h', 's', 'x', 'l', 'y'))
local judged = clock.judged(now, ARGV[4])
local in_flight = redis.call('HLEN', K.older) + tickets.unfinished(e, judged).left
local loss = losses.read()

if e and epochs.less(epoch, e) then
  return epochs.refusal('lease-lost', now)
end

if epoch ~= e or s ~= secret then
  return epochs.refusal('token-invalid', now)
end

-- Its connection stood still, and whoever renewed may have no right to it by now.
if now > tonumber(ARGV[6]) then
  return epochs.refusal('late', now)
end

x = epochs.end_lease(x, l, y, now, ARGV[4], ARGV[5])
if tonumber(x) <= now or losses.ended(loss, epoch) then
  return epochs.refusal('lease-lost', now)
end

local expires = clock.text(now + l)
redis.call('HSET', K.fence, 'x', expires)
in_flight = in_flight + losses.in_flight(loss, ARGV[3], judged)
return { 'renewed', now, e, h, l, expires, in_flight, x - now }
