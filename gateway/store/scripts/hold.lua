-- Promise  A live lease counts for its principal until it ends, and no longer; with the place that was kept for it, it
--          never counts twice.
-- KEYS     the sorted set of the principal's leases by the ms at which they stop to count
-- ARGV     1 the lease, 2 the ms at which it ends, 3 the entry whose place it takes, or nothing, 4 when
--          the call has been given up, as in grant.lua
-- Returns  {held or late, now}
-- Writes   the set

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The lease may have been given back meanwhile, and counts no more.
if now > tonumber(ARGV[4]) then
  return { 'late', now }
end

-- The first write may be refused for want of memory, so that nothing is half done.
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
if ARGV[3] ~= '' then
  redis.call('ZREM', KEYS[1], ARGV[3])
end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last[2]))
return { 'held', now }
