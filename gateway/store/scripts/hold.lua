-- Promise  A live lease counts for its principal until it ends, and no longer.
-- KEYS     the sorted set of the principal's leases by the ms at which they stop to count
-- ARGV     1 the lease, 2 the ms at which it ends
-- Returns  {held, now}
-- Writes   the set

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last[2]))
return { 'held', now }
