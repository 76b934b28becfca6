-- Promise  A wide pause ends when an operator says so, and by nothing else: one that the store has lost is written back
--          by a gateway that still enforces it.
-- KEYS     the seven of the pauses' shard, as in parts/epoch.lua
-- ARGV     1 by which gateway, then of each pause two: the pause as JSON, the reason of the event
-- Returns  {restored, now, the ids of those that are in force now}; not of one that was ended, nor where another pause
--          of the same scope has begun since
-- Writes   pauses, a and n

local key, ended = KEYS[7] .. 'pauses', KEYS[7] .. 'unpaused'
local now = clock.read()
audit.check()

local lasting, restored = pauses.by_scope(redis.call('HVALS', key)), {}
for at = 2, #ARGV, 2 do
  local pause = cjson.decode(ARGV[at])
  -- Another gateway may have been first.
  if redis.call('HEXISTS', key, pause.id) == 1 then
    restored[#restored + 1] = pause.id
  elseif not lasting[pauses.scope(pause)] and not redis.call('ZSCORE', ended, pause.id) then
    redis.call('HSET', key, pause.id, ARGV[at])
    pauses.note_wide(pause, '', 'paused', ARGV[at + 1], ARGV[1])
    restored[#restored + 1] = pause.id
  end
end
return { 'restored', now, restored }
