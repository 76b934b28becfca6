-- Promise  Waiting is in order of arrival, and a place that is given up holds nobody up.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 gateway
-- Returns  {left, now}
-- Writes   w

local now = clock.read()
waiters.leave(ARGV[2])
waiters.wake_next(ARGV[1], now, false)
return { 'left', now }
