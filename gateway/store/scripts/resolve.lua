-- Promise  G5: an unknown intent becomes what its upstream or an operator says, once, and never anything else.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 the intent's id, 3 applied, not_applied, or duplicated (applied more than once, which pauses
--          the resource), 4 by: query, own-query or operator, 5 reason, 6 evidence ('' for none), 7 who, for the event,
--          8 which attempt this is about: what is known of one says nothing of the next; 9 when the call has been given
--          up, as in grant.lua
-- Returns  {resolved or wrong-state, now, the record's fields and their values in turn}, or {unseen or late, now}
-- Writes   i, s, p, a and n; u:; m and l; f (p, u); q, q:, r, k and f (g) of a delivery; i, s and c of what it was to
--          take back; w when it wakes

local resource, id, outcome, by, reason = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local now = clock.read()
local record = intents.read(id)
redis.call('HLEN', K.fence)
redis.call('HLEN', K.waiters)
redis.call('ZCARD', K.shard .. 's:paused')
redis.call('HLEN', K.unfinished)
intents.check('unknown', 'applied', 'not_applied')
if record and record.parking ~= '' then
  intents.check_parked(resource, id)
end
notifications.check(record)
intents.check_followed(record)
if not record then
  return { 'unseen', now }
end

local state = outcome == 'not_applied' and 'not_applied' or 'applied'
if record.attempts ~= tonumber(ARGV[8]) then
  return { 'wrong-state', now, unpack(intents.shown(record)) }
end

-- Its own repeat: the reply was lost.
if record.state == state and record.resolved_by == by and record.reason == reason then
  return { 'resolved', now, unpack(intents.shown(record)) }
end

-- Its connection stood still: whoever knew was told that nothing is said yet, and may know better by now.
if now > tonumber(ARGV[9]) then
  return { 'late', now }
end

if record.state ~= 'unknown' then
  return { 'wrong-state', now, unpack(intents.shown(record)) }
end

record.resolved_by, record.evidence = by, ARGV[6]
intents.step(record, state, now, reason, ARGV[7])
-- That an upstream does not know it yet says nothing of what it is at work on.
if by == 'operator' or state == 'applied' then
  tickets.finish(record.ticket, resource, now)
end
if outcome == 'duplicated' then
  local step = audit.note(record, state, state, 'duplicate-effect: ' .. reason, ARGV[7])
  notifications.tell(record, 'incident', 'duplicate-effect', reason, step)
  pauses.begin(resource, id, 'intent ' .. id .. ' took effect more than once', ARGV[7], now)
end
return { 'resolved', now, unpack(intents.shown(record)) }
