-- Promise  One approval is used once, for the very request that was approved, by somebody else than who made it, and
--          only while no newer epoch rules. Of two who decide at once, one wins.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 the intent's id, 3 approve or deny, 4 by whom, 5 the principal who that is ('' for an
--          operator), 6 note, 7 digest of the request that was looked at ('' where none is named: only to deny), 8 the
--          keeping that the caller found, 9 when the call has been given up, as in grant.lua
-- Returns  {decided, wrong-state, own-request, other-request or store-regressed, now, the record's fields and their
--          values in turn}, or {unseen or late, now}
-- Writes   i, e, s, a and n; q and q: where it is approved, r and k where it ends

local id, by, note = ARGV[2], ARGV[4], ARGV[6]
local verdict = ARGV[3] == 'approve' and 'given' or 'refused'

local now = clock.read()
local highest = redis.call('HGET', K.fence, 'e')
local loss = losses.read()
local record = intents.read(id)
intents.check_parked(ARGV[1], id)
intents.check('awaiting_approval', 'queued', 'denied', 'expired', 'superseded')
if not record then
  return { 'unseen', now }
end

local function answer(word)
  return { word, now, unpack(intents.shown(record)) }
end

-- Its own repeat: the reply was lost.
local told = words.read(record.parking)
local state = verdict == 'given' and 'queued' or 'denied'
local same = ARGV[7] == told.digest or verdict == 'refused' and ARGV[7] == ''
if record.state == state and told.approval == verdict and told.by == by and record.reason == note and same then
  return answer('decided')
end

if record.state ~= 'awaiting_approval' then
  return answer('wrong-state')
end

-- Its connection stood still, and whoever decided was told that nothing is known: that word is theirs no longer.
if now > tonumber(ARGV[9]) then
  return { 'late', now }
end

-- It may have been decided, and sent, before.
if loss and loss.open then
  return answer('store-regressed')
end

if ARGV[5] ~= '' and intents.was_sent_by(record, ARGV[5]) then
  return answer('own-request')
end

-- A call that comes late finds a repeat of the request, which says the same: that is for somebody to look at anew.
if not same or intents.keeping(record) ~= ARGV[8] then
  return answer('other-request')
end

if now >= tonumber(told.expires) then
  intents.step(record, 'expired', now, 'nobody decided in time', by)
  return answer('wrong-state')
end

if verdict == 'given' and highest and epochs.less(record.epoch, highest) then
  intents.step(record, 'superseded', now, 'a newer epoch rules', by)
  return answer('wrong-state')
end

told.approval, told.by = verdict, by
told.since = clock.text(now)
intents.park_as(record, told)
intents.step(record, state, now, note, by)
return answer('decided')
