-- Promise  A pause ends when an operator says so, and by nothing else.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 id of the pause, 3 by whom, 4 when the call has been given up, as in grant.lua
-- Returns  {resumed, now}, also if that pause has ended before; {late, now}
-- Writes   f (p), s, a and n

local now = clock.read()
redis.call('ZCARD', K.shard .. 's:paused')
audit.check()
-- Its connection stood still, and somebody may have been told meanwhile that the pause lasts.
if now > tonumber(ARGV[4]) then
  return { 'late', now }
end

local packed = redis.call('HGET', K.fence, 'p')
local pause = packed and cjson.decode(packed)
if pause and pause.id == ARGV[2] then
  pauses.lift(pause, ARGV[3])
end
return { 'resumed', now }
