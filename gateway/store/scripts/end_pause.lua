-- Promise  A wide pause ends when an operator says so, and by nothing else; every gateway is told at once.
-- KEYS     the seven of the pauses' shard, as in parts/epoch.lua
-- ARGV     1 id, 2 kind, 3 name, 4 a rule's upstream ('' for any), 5 the reason of the event, 6 by whom, 7 when
--          the call has been given up, as in grant.lua
-- Returns  {resumed, now}, also if that pause has ended before; {late, now}
-- Writes   pauses, unpaused, a and n

local key, ended, id = KEYS[7] .. 'pauses', KEYS[7] .. 'unpaused', ARGV[1]

-- A gateway that knows nothing of the end takes the pause for lost and writes it back. Of one that was cut off for
-- longer the operator hears again.
local TOLD_MS = 30 * 86400000

local now = clock.read()
audit.check()
-- Its connection stood still, and somebody may have been told meanwhile that the pause lasts.
if now > tonumber(ARGV[7]) then
  return { 'late', now }
end

redis.call('ZREMRANGEBYSCORE', ended, '-inf', clock.text(now - TOLD_MS))
if redis.call('HEXISTS', key, id) == 1 then
  redis.call('ZADD', ended, clock.text(now), id)
  redis.call('PEXPIRE', ended, TOLD_MS)
  redis.call('HDEL', key, id)
  local pause = { id = id, kind = ARGV[2], name = ARGV[3], upstream = ARGV[4] }
  pauses.note_wide(pause, 'paused', 'resumed', ARGV[5], ARGV[6])
end
return { 'resumed', now }
