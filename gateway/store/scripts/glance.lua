-- Promise  Shows what a list shows of an intent: a hundred records are not a hundred answers of many megabytes.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the intent's id
-- Returns  {recalled, now, its fields and their values in turn, the answer and the evidence empty}, or {unseen, now}
-- Writes   nothing

local now = clock.read()
local record = intents.read(ARGV[1])
if not record then
  return { 'unseen', now }
end
record.answer, record.evidence = '', ''
return { 'recalled', now, unpack(intents.shown(record)) }
