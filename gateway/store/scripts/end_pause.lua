-- Promise  A wide pause ends when an operator says so, and by nothing else; every gateway is told at once.
-- KEYS     the seven of the pauses' shard, as in parts/epoch.lua
-- ARGV     1 id, 2 kind, 3 name, 4 a rule's upstream ('' for any), 5 the reason of the event, 6 by whom
-- Returns  {resumed, now}, also if that pause has ended before
-- Writes   pauses, a and n

local key, id = KEYS[7] .. 'pauses', ARGV[1]

local now = clock.read()
audit.check()
if redis.call('HDEL', key, id) == 1 then
  local of = { id = id, upstream = ARGV[4] }
  of[ARGV[2]] = ARGV[3]
  pauses.note(of, 'paused', 'resumed', ARGV[5], ARGV[6])
  redis.call('PUBLISH', 'fg:pauses', id)
end
return { 'resumed', now }
