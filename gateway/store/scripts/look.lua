-- Promise  Shows the record of a resource at one instant of the store's clock.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     none
-- Returns  {seen, now, e, h, n, x, l, tickets in flight, older ones}, or {unseen, now}
-- Writes   nothing

local now = clock.read()
local e, h, n, x, l = unpack(redis.call('HMGET', K.fence, 'e', 'h', 'n', 'x', 'l'))
if not e then
  return { 'unseen', now }
end
-- One that has ended with a loss is shown as one that was given back.
if losses.ended(losses.read(), e) then
  x = '0'
end
local in_flight, older = redis.call('HLEN', K.tickets), redis.call('HLEN', K.older)
return { 'seen', now, e, h or '', n or '0', x or '0', l or '0', in_flight, older }
