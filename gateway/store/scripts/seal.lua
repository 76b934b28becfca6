-- Promise  The trail is sealed in order: a seal is added only behind the one that it was made after.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the newest seal that was seen ('' if there was none), 2 the one that follows it, 3 the number of the event
--          that it seals, and in pairs like 2 and 3 those behind it
-- Returns  {sealed, now}; {overtaken, now} where another gateway has sealed meanwhile
-- Writes   z

local seals = K.shard .. 'z'

local now = clock.read()
local newest = redis.call('ZRANGE', seals, -1, -1)[1] or ''

if newest ~= ARGV[1] then
  return { 'overtaken', now }
end

for at = 2, #ARGV, 2 do
  redis.call('ZADD', seals, ARGV[at + 1], ARGV[at])
end
return { 'sealed', now }
