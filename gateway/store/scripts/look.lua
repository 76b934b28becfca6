-- Promise  Shows the record of a resource at one instant of the store's clock.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 expected store ms, 2 what the gateway knows of the clock's last step, as in parts/epoch.lua
-- Returns  {seen, now, e, h, n, x, l, tickets in flight, older ones with those that are unfinished}, or {unseen, now}
-- Writes   nothing

local now = clock.read()
local e, h, n, x, l, y = unpack(redis.call('HMGET', K.fence, 'e', 'h', 'n', 'x', 'l', 'y'))
if not e then
  return { 'unseen', now }
end
x = epochs.lease_end(x, l, y, now, ARGV[1], ARGV[2])
-- One that has ended with a loss is shown as one that was given back.
if losses.ended(losses.read(), e) then
  x = '0'
end
local in_flight = redis.call('HLEN', K.tickets)
local older = redis.call('HLEN', K.older) + tickets.unfinished(e, clock.judged(now, ARGV[1])).left
return { 'seen', now, e, h or '', n or '0', x or '0', l or '0', in_flight, older }
