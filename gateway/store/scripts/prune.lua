-- Promise  What the shard keeps is bounded: ended intents leave the lists when their time is over, and old events the
--          trail.
-- KEYS     as in parts/epoch.lua; only the last two are used, so that any resource of the shard will do
-- ARGV     1 how many list entries to look at, 2 how many events to keep, 3 the oldest event to keep, as ms since 1970
-- Returns  {pruned, now, how many entries left a list}
-- Writes   s and a; m and l for notifications whose time is over

local ENDED_STATES = { 'applied', 'not_applied', 'denied', 'expired', 'superseded', 'failed', 'compensated' }

local now = clock.read()
intents.check(unpack(ENDED_STATES))
letters.check()
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
redis.call('XTRIM', K.audit, 'MAXLEN', '~', ARGV[2])
redis.call('XTRIM', K.audit, 'MINID', '~', ARGV[3])
letters.prune(now)
return { 'pruned', now, #left_over }
