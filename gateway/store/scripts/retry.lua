-- Promise  G4: what was proved not applied is queued again when an operator says so: as it came, under its own epoch.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 the intent's id, 3 note, 4 by whom, 5 digest of the request that was looked at, 6 the keeping
--          that the caller found, 7 when the call has been given up, as in grant.lua
-- Returns  {queued, wrong-state, other-request, approved, overtaken, collected, lost, not-kept or store-regressed, now,
--          the record's fields and their values in turn}, or {unseen or late, now}
-- Writes   i, r, q, q:, s, a and n

local resource, id, note = ARGV[1], ARGV[2], ARGV[3]

local now = clock.read()
local highest, began, forgotten, most = unpack(redis.call('HMGET', K.fence, 'e', 'b', 'r', 'm'))
local loss = losses.read()
local record = intents.read(id)
intents.check_parked(resource, id)
intents.check('failed', 'not_applied', 'queued')
if not record then
  return { 'unseen', now }
end

local function answer(word)
  return { word, now, unpack(intents.shown(record)) }
end

-- Its own repeat: the reply was lost.
local told = words.read(record.parking)
if record.state == 'queued' and record.reason == note and told.digest == ARGV[5] then
  return answer('queued')
end

if now > tonumber(ARGV[7]) then
  return { 'late', now }
end

if record.parking == '' or (record.state ~= 'failed' and record.state ~= 'not_applied') then
  return answer('wrong-state')
end

-- Its key was free, and has another request by now; or this call comes late, and it was sent and has failed since.
if told.digest ~= ARGV[5] or intents.keeping(record) ~= ARGV[6] then
  return answer('other-request')
end

-- It may have been sent again, and that lost.
if loss and loss.open then
  return answer('store-regressed')
end
-- Whatever an operator has said of it since: it was queued under an epoch that has ended with the loss.
if losses.may_have_forgotten(loss, told.since) then
  return answer('lost')
end

-- An approval is used once, and was not where no policy took the write.
if told.approval and not told.unused then
  return answer('approved')
end

-- Its own lease ended long ago (collect.lua), and nobody knows of newer ones.
if not highest and not forgotten then
  return answer('collected')
end

-- Of one that a former version kept after its reset, nobody knows in which era.
local is_unknown = forgotten and not began and not told.era and epochs.less(forgotten, record.epoch)
local is_former = (told.era or '0') ~= epochs.era(highest, began, forgotten, most) and not is_unknown
-- Nor is the epoch in force less, within one era.
if is_former or highest ~= record.epoch then
  return answer('overtaken')
end

if redis.call('HEXISTS', KEYS[7] .. 'r:' .. id, 'request') == 0 then
  return answer('not-kept')
end

told.failures, told.since, told.unused = 0, clock.text(now), nil
intents.park_as(record, told)
record.resolved_by, record.evidence, record.answer = '', '', ''
intents.step(record, 'queued', now, note, ARGV[4])
return answer('queued')
