-- Promise  What nobody approved in time is never sent.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the intent's id, 2 gateway
-- Returns  {expired, now}; or {early, now} where its time has not come, or somebody has decided
-- Writes   e; i, r, k, s, a and n of one that expires

local id = ARGV[1]

local now = clock.read()
local record = intents.read(id)
intents.check_parked(record and record.resource or '', id)
intents.check('awaiting_approval', 'expired')
if not record or record.state ~= 'awaiting_approval' then
  redis.call('ZREM', KEYS[7] .. 'e', id)
  return { 'early', now }
end

if now < tonumber(words.read(record.parking).expires) then
  return { 'early', now }
end

intents.step(record, 'expired', now, 'nobody decided in time', ARGV[2])
return { 'expired', now }
