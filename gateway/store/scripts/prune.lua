-- Promise  What the shard keeps is bounded: ended intents leave the lists when their time is over, and old events the
--          trail.
-- KEYS     as in parts/epoch.lua; only the last two are used, so that any resource of the shard will do
-- ARGV     1 how many list entries to look at, 2 how many events to keep, 3 the oldest event to keep, as ms since 1970
-- Returns  {pruned, now, how many entries left a list}
-- Writes   s, a and z; m and l for notifications whose time is over

local ENDED_STATES = { 'applied', 'not_applied', 'denied', 'expired', 'superseded', 'failed', 'compensated' }

local length, oldest_ms = tonumber(ARGV[2]), ARGV[3]
local seals = K.shard .. 'z'

-- So many events more than they should be are left, until a seal allows to cut.
local UNSEALED = 1000

local now = clock.read()
intents.check(unpack(ENDED_STATES))
letters.check()
redis.call('ZCARD', seals)

local function number_of(event)
  local name, value = event[2][1], event[2][2]
  return name == 'e' and struct.unpack('>I6', value) or tonumber(value)
end

-- The trail is cut behind a seal, so that what is left follows on it. All events up to number `last` may go.
local function cut_behind_a_seal(last)
  local seal = redis.call('ZRANGE', seals, clock.text(last), '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1]
  local number, ms, within = string.match(seal or '', '^(%d+) (%d+)-(%d+) ')
  if number then
    redis.call('XTRIM', K.audit, 'MINID', string.format('%s-%.0f', ms, within + 1))
    redis.call('ZREMRANGEBYSCORE', seals, '-inf', '(' .. number)
  end
end

local function cut()
  local last = tonumber(redis.call('GET', K.number) or 0)
  local young = redis.call('XRANGE', K.audit, oldest_ms, '+', 'COUNT', 1)[1]
  local old = young and (number_of(young) or 0) - 1 or last
  cut_behind_a_seal(math.max(last - length, old))
  if redis.call('XLEN', K.audit) > length + UNSEALED then
    redis.call('XTRIM', K.audit, 'MAXLEN', '~', length + UNSEALED)
  end
end

local left_over = {}
for _, state in ipairs(ENDED_STATES) do
  -- By chance: rules keep their intents for different times, so that the oldest of a list is not the next to go.
  for _, id in ipairs(redis.call('ZRANDMEMBER', K.shard .. 's:' .. state, ARGV[1])) do
    -- Its time may be over, and the key have another intent by now.
    if intents.state(id) ~= state then
      left_over[#left_over + 1] = { K.shard .. 's:' .. state, id }
    end
  end
end
for _, entry in ipairs(left_over) do
  redis.call('ZREM', entry[1], entry[2])
end
if redis.call('EXISTS', seals) == 1 then
  cut()
else
  redis.call('XTRIM', K.audit, 'MAXLEN', '~', length)
  redis.call('XTRIM', K.audit, 'MINID', '~', oldest_ms)
end
letters.prune(now)
return { 'pruned', now, #left_over }
