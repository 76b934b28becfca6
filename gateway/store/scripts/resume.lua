-- Promise  A pause ends when an operator says so, and by nothing else.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 id of the pause
-- Returns  {resumed, now}, also if that pause has ended before
-- Writes   f (p), s

local now = clock.read()
redis.call('ZCARD', K.paused)
local pause = redis.call('HGET', K.fence, 'p')
if pause and cjson.decode(pause).id == ARGV[2] then
  pauses.lift(ARGV[1])
end
return { 'resumed', now }
