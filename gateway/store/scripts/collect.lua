-- Promise  The record of a lease that has ended goes when nobody can need it. G1 holds all the same: its tokens are
--          dead, and an epoch that is granted later is larger, for it is not behind the clock.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 looks, where nothing is to be taken away, 3 up to where the shard's approvals were looked at
--          ('' for not yet)
-- Returns  {collected or kept, now}; {counted, now, what to call with as 3} where there are more approvals than one
--          step looks at
-- Writes   f

local now = clock.read()
local e, s, x, n, p, u, g, r = unpack(redis.call('HMGET', K.fence, 'e', 's', 'x', 'n', 'p', 'u', 'g', 'r'))
local used = redis.call('EXISTS', K.tickets, K.older, K.waiters, K.shard .. 'q:' .. ARGV[1])

-- Only a lease authority keeps a secret. Counted revisions, a pause, what holds the resource back and what was reset
-- are nowhere else.
local is_over = e and s and losses.collectable(e, now) and tonumber(x) <= now
local is_lost = losses.is_near(losses.read(), now)
if not is_over or is_lost or n or p or u or g or r or used > 0 then
  return { 'kept', now }
end

local awaiting, last = intents.awaiting(ARGV[1], ARGV[3])
if awaiting > 0 then
  return { 'kept', now }
end
if last then
  return { 'counted', now, last }
end

if ARGV[2] ~= 'looks' then
  redis.call('DEL', K.fence)
end
return { 'collected', now }
