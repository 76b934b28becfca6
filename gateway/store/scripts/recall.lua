-- Promise  Shows the record of an intent at one instant of the store's clock.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the intent's id
-- Returns  {recalled, now, its fields and their values in turn}, or {unseen, now}
-- Writes   nothing

local now = clock.read()
local record = intents.read(ARGV[1])
if not record then
  return { 'unseen', now }
end
return { 'recalled', now, unpack(intents.shown(record)) }
