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

local function is_same(one, other)
  return one.kind == other.kind and one.name == other.name and one.upstream == other.upstream
end

local lasting = {}
for _, text in ipairs(redis.call('HVALS', key)) do
  local is_json, one = pcall(cjson.decode, text)
  if is_json and type(one) == 'table' then
    lasting[#lasting + 1] = one
  end
end

local function is_over(pause)
  for _, one in ipairs(lasting) do
    if is_same(one, pause) then
      return true
    end
  end
  return redis.call('ZSCORE', ended, pause.id)
end

local restored = {}
for at = 2, #ARGV, 2 do
  local pause = cjson.decode(ARGV[at])
  -- Another gateway may have been first.
  if redis.call('HEXISTS', key, pause.id) == 1 then
    restored[#restored + 1] = pause.id
  elseif not is_over(pause) then
    redis.call('HSET', key, pause.id, ARGV[at])
    local of = { id = pause.id, upstream = pause.upstream }
    of[pause.kind] = pause.name
    pauses.note(of, '', 'paused', ARGV[at + 1], ARGV[1])
    redis.call('PUBLISH', 'fg:pauses', pause.id)
    restored[#restored + 1] = pause.id
  end
end
return { 'restored', now, restored }
