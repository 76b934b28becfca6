-- Promise  G1, G3: a session's ticket lives on only for as long as a write of its token would be admitted. Once this
--          refuses, nothing more is sent under it, and whoever waits for it comes next.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 ticket id, 3 gateway, 4 epoch, 5 holder ('' where none was named), 6 digest of the secret
--          ('' under header authority), 7 ms that the ticket lives from now on, 8 expected store ms, 9 what the
--          gateway knows of the clock's last step, as in parts/epoch.lua ('' for nothing)
-- Returns  {extended, now, ms until the lease ends ('' under header authority)}; {lapsed, now} for a ticket that has
--          ended; or a refusal {paused, store-regressed, stale-epoch, token-invalid, holder-mismatch or lease-expired,
--          now, e, h, x, n, '', ''}, or {resource-held, now, e, h, x, n, what holds it, its state}
-- Writes   t and d (the deadline); f (x, y); w, so that the gateway is woken when it has to ask again

local resource, id, gateway = ARGV[1], ARGV[2], ARGV[3]

local now, micros = clock.read()
local fence, term, right = {}
fence.e, fence.h, fence.s, fence.x, fence.p, fence.u, term, right =
  unpack(redis.call('HMGET', K.fence, 'e', 'h', 's', 'x', 'p', 'u', 'l', 'y'))
local ticket, key = tickets.find(id)
redis.call('HLEN', K.waiters)
redis.call('ZCARD', K.deadlines)

local loss = losses.read()
fence.x = epochs.end_lease(fence.x, term, right, now, ARGV[8], ARGV[9])
local fault = fence.p and 'paused' or losses.fault_of_all(loss, nil, fence, ARGV[4], ARGV[5], ARGV[6], now)
if fault then
  return epochs.refusal(fault, now)
end

local holds, its_state
if fence.u then
  holds, its_state = intents.holding(fence.u)
end
if holds then
  return epochs.refusal('resource-held', now, holds, its_state)
end

-- Its gateway was silent for longer than it lived, and somebody has judged it.
if not ticket then
  return { 'lapsed', now }
end

ticket.deadline = now + ARGV[7]
tickets.keep(id, resource, ticket, key)
waiters.watch(gateway, micros, now)
return { 'extended', now, ARGV[6] ~= '' and fence.x - now or '' }
