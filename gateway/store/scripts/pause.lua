-- Promise  An operator stops all writes of a resource at once: what was admitted before ends, nothing more is admitted.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 id of the pause, 3 reason, 4 by whom, 5 when the call has been given up, as in grant.lua
-- Returns  {paused, now, the pause as JSON}; the one that lasts already, if there is one; {late, now}
-- Writes   f (p), s, a and n; w when it wakes

local now = clock.read()
redis.call('HLEN', K.waiters)
redis.call('ZCARD', K.shard .. 's:paused')
audit.check()
-- Its connection stood still, and somebody may have ended this very pause meanwhile, or its repeat.
if now > tonumber(ARGV[5]) and redis.call('HEXISTS', K.fence, 'p') == 0 then
  return { 'late', now }
end

pauses.begin(ARGV[1], ARGV[2], ARGV[3], ARGV[4], now)
return { 'paused', now, redis.call('HGET', K.fence, 'p') }
