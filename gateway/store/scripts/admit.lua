-- Promise  G1, G3 and G4: compares, records and admits one write in one step. No older epoch is admitted afterwards,
--          nothing while an older one is in flight, and no intent that may have taken effect.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 ticket id (the call's name, of what is not to be sent now), 3 gateway, 4 epoch, 5 holder (''
--          where none was named), 6 digest of the secret ('' under header authority), 7 expected store ms, 8 upstream,
--          9 rule, 10 what rule and request ask for, in words: ttl:MS, lasts:MS (of a write of another upstream, where
--          that is longer), set-back:MS (by how much the clock was, where this gateway saw that) and before:MS (where
--          it stood then), older:MS/FROM/TO (as in parts/epoch.lua), strict, serial, increasing:N or contiguous:N,
--          counts, if-revision:N, queued, behind, until:MS (as in grant.lua), seen:E, told (E is larger, and of before
--          a loss that was told of), known (this epoch is seen), era:B (in which this gateway knows the resource's
--          epochs, where it is not the first), observes, holds, probes, principal:NAME, notify:EVENTS, trace:ID, and of
--          an intent retain:MS, query:MS, no-after:MS, retry:MS, native:HEADER@AT; and where it is not to be sent now,
--          parks:STATE, room:BYTES, digest:D, risk:R, approve:MS; 11 the intent's id ('' without one), 12 its
--          fingerprint, 13 its key, tenant and target in one text, 14 what the shard began with ('' where this gateway
--          does not know it), 15 the request to be kept
-- Returns  {admitted, now, n, attempt, in doubt or '', when the intent's first attempt in doubt was admitted (0 without
--          one)}, or {ready, now, in doubt or ''} where it only probes;
--          {replayed, now, answer, resolved by, evidence}; {parked, now, by how many bytes more is kept, the record's
--          fields and their values in turn}; {wait-older or wait-busy, now, ms until to ask again}; or a refusal
--          {paused, stale-epoch, token-invalid, holder-mismatch, lease-expired, intent-mismatch, intent-in-progress,
--          approval-denied, outcome-unknown, out-of-sequence, revision-mismatch, no-room, store-regressed,
--          began-anew, late or resource-held (with what holds it for its intent), now, e, h, x, n, intent, its state}
-- Writes   f (e, h, x, w, q, u), t, o and d; i, s, a, n, m and l for the intent; q, q:, e, r, k for one that is parked;
--          for overdue tickets as sweep.lua; w for whoever waits; refused, a and n for what the fence refuses

local resource, id, gateway, mine, holder, secret = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local asks = words.read(ARGV[10])
local intent, fingerprint = ARGV[11], ARGV[12]

-- Read all that is written below: a key of the wrong type fails here, before the first write.
local now, micros = clock.read()
local judged = clock.judged(now, ARGV[7])
local found = redis.call('HMGET', K.fence, 'e', 'h', 's', 'x', 'w', 'q', 'n', 'p', 'g', 'u', 'b', 'r', 'm', 'l', 'y')
local fence = {
  e = found[1], h = found[2], s = found[3], x = found[4], w = found[5], q = found[6], n = found[7], p = found[8],
  g = found[9], u = found[10],
}
local era = epochs.era(fence.e, found[11], found[12], found[13])
local in_flight, older, unfinished, waiting, loss = 0, 0, 0, 0, nil
-- Mostly there is none of the five, and one look tells.
if redis.call('EXISTS', K.tickets, K.older, K.unfinished, K.waiters, K.lost) > 0 then
  loss = losses.read()
  in_flight, older = redis.call('HLEN', K.tickets), redis.call('HLEN', K.older)
  unfinished, waiting = redis.call('HLEN', K.unfinished), redis.call('HLEN', K.waiters)
end
redis.call('ZCARD', K.deadlines)
local record = intent ~= '' and intents.read(intent) or nil
if record then
  intents.check('unknown', 'applied', 'not_applied')
  notifications.check(record)
else
  audit.check()
end
if asks.parks or record and record.parking ~= '' then
  notifications.check({ notify = asks.notify or '' })
  intents.check(record and record.state or '', asks.parks)
  intents.check_parked(resource, intent)
end

local function refuse(word)
  -- What is only observed is not refused.
  if not asks.observes then
    -- An expired lease's secret proves whose it was; an older one's is not known any more.
    local of = word == 'lease-expired' and fence.h or holder
    audit.refused({
      id = intent, resource = resource, ticket = asks.parks and '' or id, epoch = mine, holder = of,
      upstream = ARGV[8], rule = ARGV[9], fingerprint = fingerprint, principal = asks.principal, trace = asks.trace,
    }, word, gateway)
  end
  waiters.give_up(resource, gateway, asks, now)
  if record and record.fingerprint == fingerprint then
    return epochs.refusal(word, now, intent, record.state)
  end
  return epochs.refusal(word, now)
end

local function wait(word, due)
  -- A write that is only observed does not wait, and takes nobody's place.
  if not asks.observes then
    waiters.wait(gateway, micros, now)
  end
  return { word, now, math.min(math.max(due, 10), 500) }
end

-- What is to be delivered later, or approved first, waits for nothing now.
local function park(of)
  if not intents.fits(ARGV[15], asks.room) then
    return refuse('no-room')
  end
  local one = record or intents.new(intent, '', now)
  -- Its key may be free again: who asked for it before has asked for it.
  local senders = record and intents.senders(record, asks.principal or '')
  one.calls = id ~= '' and id .. ' ' .. intents.calls(one) or intents.calls(one)
  one.ticket, one.epoch, one.holder, one.upstream, one.rule, one.resource = '', mine, of, ARGV[8], ARGV[9], resource
  one.principal, one.notify, one.holds = asks.principal or '', asks.notify or '', asks.holds and '1' or ''
  one.fingerprint, one.about, one.in_doubt = fingerprint, ARGV[13], ''
  one.retain, one.query, one.asked = tonumber(asks.retain), tonumber(asks.query or 0), 0
  one.native, one.answer, one.evidence, one.resolved_by, one.heir = asks.native or '', '', '', '', ''
  one.trace, one.senders, one.no_after = asks.trace, '', asks['no-after'] or ''
  intents.park_as(one, {
    since = clock.text(now), failures = 0, digest = asks.digest, risk = asks.risk, senders = senders,
    approval = asks.approve and 'awaited' or nil, expires = asks.approve and clock.text(now + asks.approve) or nil,
    era = asks.era,
  })
  local size = intents.park(one, asks.parks, ARGV[15], now, micros, gateway)
  return { 'parked', now, size, unpack(intents.shown(one)) }
end

-- Its own repeat: the reply was lost, the ticket is there.
local own = in_flight + older > 0 and tickets.find(id)
if own then
  local since = record and record.ticket == id and record.sent_at or 0
  return { 'admitted', now, fence.n or '0', own.attempt or 1, own.in_doubt or '', since }
end

-- It comes once more behind its own end: what it asked for has been done.
if record and intents.was_made_by(record, id) then
  return asks.parks and { 'parked', now, 0, unpack(intents.shown(record)) } or epochs.refusal('late', now)
end

-- Its connection stood still until its gateway gave it up, which sends nothing under this ticket and has said so.
if asks['until'] and now > tonumber(asks['until']) then
  return epochs.refusal('late', now)
end

if losses.began_anew(ARGV[14]) then
  return refuse('began-anew')
end

-- It asks again, once it has compared what it knows with what the record says.
if era ~= (asks.era or '0') then
  return epochs.refusal('other-era', now)
end

if fence.p then
  return refuse('paused')
end

fence.x = epochs.end_lease(fence.x, found[14], found[15], now, ARGV[7], asks.older)
local fault
local seen = asks.known and mine or asks.seen
if loss or seen and seen ~= fence.e then
  fault = losses.fault_of_all(loss, seen, fence, mine, holder, secret, now, asks.told)
else
  fault = epochs.fault(fence, mine, holder, secret, now)
end
if fault then
  return refuse(fault)
end

-- Tickets that are overdue end before the intent and the revision are judged: an unknown write counts as one. Those of
-- this epoch are looked at where they are in the way.
local raises = mine ~= fence.e
local repeats = record and record.state == 'in_flight'
local before, beside = tickets.NONE, tickets.NONE
if older > 0 then
  before = tickets.judge(K.older, resource, now, judged)
end
if in_flight > 0 and (raises or asks.serial or repeats) then
  beside = tickets.judge(K.tickets, resource, now, judged)
end
local running = unfinished > 0 and tickets.unfinished(mine, judged) or tickets.NONE

-- From here on it writes. The newer epoch is recorded also when its write is refused or has to wait.
tickets.lapse(before, resource, now)
tickets.lapse(beside, resource, now)
tickets.forget(running.over)
local h, w, q, n, u, due = fence.h, fence.w, fence.q, fence.n, fence.u, before.due
older, in_flight = before.left, beside.left
if raises then
  epochs.raise(mine, 'h', holder)
  waiters.wake_all(resource)
  h, w, q = holder, nil, nil
  older, in_flight, due = older + in_flight, 0, math.min(due, beside.due)
else
  if not h then
    h = holder
    redis.call('HSET', K.fence, 'h', holder)
  end
  -- Recorded by a former version, which keeps nothing beside it.
  if found[12] and found[13] ~= mine then
    redis.call('HSET', K.fence, unpack(epochs.of_its_era(mine)))
  end
end
older, due = older + running.left, math.min(due, running.due)
if #before.overdue + #beside.overdue > 0 then
  n, u = unpack(redis.call('HMGET', K.fence, 'n', 'u'))
  -- Also where there was none: of a ticket whose intent's record is gone, one is made as it lapses.
  record = intent ~= '' and intents.read(intent) or nil
  waiters.wake_next(resource, now, #before.overdue > 0 and older == 0)
end

-- Its ticket is gone, and nobody will settle it.
if record and record.state == 'in_flight' and not tickets.find(record.ticket) then
  intents.may_last(record, math.max(asks.ttl, asks.lasts or 0))
  intents.step(record, intents.concluded(record, 'unknown'), now, 'its ticket was lost', gateway)
end

-- The intent comes before order and sequence: a repeat gets its answer and not a refusal. What was proved not applied,
-- or was never sent, has left its key free.
local lives = record and not intents.FREE[record.state]
if lives and record.fingerprint ~= fingerprint then
  return refuse('intent-mismatch')
end

if lives and intents.DONE[record.state] then
  waiters.give_up(resource, gateway, asks, now)
  return { 'replayed', now, record.answer, record.resolved_by, record.evidence }
end

local parked = lives and (record.state == 'queued' or record.state == 'awaiting_approval')
if asks.parks and (parked or lives and record.state == 'in_flight' and record.parking ~= '') then
  record.trace = asks.trace
  if id ~= '' then
    intents.found_by(record, id)
  end
  intents.adopt(record, mine, h, asks.principal or '', now, gateway)
  return { 'parked', now, 0, unpack(intents.shown(record)) }
end

if lives and record.state == 'denied' then
  return refuse('approval-denied')
end

if lives and record.state == 'in_flight' or parked then
  return refuse('intent-in-progress')
end

-- Whether it took effect before may be what was lost.
if loss and loss.open and not lives and (intent ~= '' or asks.parks) then
  return refuse('store-regressed')
end

-- It may turn out that nothing was done; whoever asked for it meanwhile has asked for it.
if lives and asks.parks then
  intents.add_sender(record, asks.principal or '')
end

-- The upstream refuses the second only under the key that it was given with the first, and for so long: also when this
-- one comes there at the end of its own time.
local retries = asks.retry and lives and record.native == asks.native
local age = lives and now - record.sent_at
if lives and asks['set-back'] and record.sent_at < tonumber(asks.before) then
  -- The asking gateway has seen the clock set back since.
  age = age + asks['set-back']
end
if lives and not (retries and age + asks.ttl < tonumber(asks.retry)) then
  return refuse('outcome-unknown')
end

-- A further attempt of this epoch has the place of the one before it, as long as nothing came behind that: it would
-- write over what it never saw.
local has_place = lives and intents.has_place(record, mine, era)
if asks.strict and w and not has_place then
  return refuse('stale-epoch')
end

local sequence = asks.increasing or asks.contiguous
local wrong = asks.increasing and q and not epochs.less(q, sequence)
  or asks.contiguous and sequence ~= epochs.next(q or '0')
if wrong and not (has_place and q == sequence) then
  return refuse('out-of-sequence')
end

-- The clock was set back, nobody knows by how much: the upstream may have forgotten the key.
if lives and now + GRACE_MS < record.sent_at then
  return refuse('outcome-unknown')
end

local based_on = asks['if-revision']
if based_on and based_on ~= (n or '0') and not (has_place and n == epochs.next(based_on)) then
  return refuse('revision-mismatch')
end

if asks.parks then
  return asks.probes and { 'ready', now, '' } or park(h)
end

-- A further attempt is one of the ways in which an unknown write is resolved: it does not hold itself back.
local holds, its_state
if u then
  holds, its_state = intents.holding(u, lives and intent)
end
if holds then
  waiters.give_up(resource, gateway, asks, now)
  return epochs.refusal('resource-held', now, holds, its_state)
end

-- Tickets were lost too, and what was sent under them may still be on its way.
local forgotten = losses.in_flight_ms(loss, math.max(asks.ttl, asks.lasts or 0), judged)
if forgotten > 0 then
  return wait('wait-older', forgotten)
end

-- What was queued under a lease that was given back counts as an older write.
if older > 0 or fence.g then
  return wait('wait-older', due)
end

if asks.serial and in_flight > 0 then
  return wait('wait-busy', beside.due)
end

if asks.serial and waiting > 0 and not waiters.none_before(gateway, asks.queued, now) then
  return wait('wait-busy', 500)
end

-- What is asked besides comes last: a write that cannot be made now should not cost anything.
if asks.probes then
  return { 'ready', now, lives and 'unknown' or '' }
end

local one = record or intents.new(intent ~= '' and intent or id, '', now)
-- A rule that wants an approval may take it next.
one.senders = record and intents.senders(record, asks.principal or '') or ''
one.calls = record and intents.calls(record) or ''
one.ticket, one.epoch, one.holder, one.upstream, one.rule, one.resource = id, mine, h, ARGV[8], ARGV[9], resource
one.principal, one.notify, one.trace = asks.principal or '', asks.notify or '', asks.trace
one.holds = asks.holds and '1' or lives and one.holds or ''
one.attempts, one.in_doubt = one.attempts + 1, lives and 'unknown' or ''
if intent ~= '' then
  one.fingerprint, one.about = fingerprint, ARGV[13]
  one.retain, one.query, one.asked = tonumber(asks.retain), tonumber(asks.query or 0), 0
  one.sent_at, one.native = lives and one.sent_at or now, asks.native or ''
  one.answer, one.evidence, one.resolved_by, one.parking, one.heir = '', '', '', '', ''
  one.no_after, one.era = intents.no_after(lives and one.no_after or '', asks['no-after']), asks.era or ''
  intents.step(one, 'in_flight', now, 'admitted', gateway)
else
  audit.note(one, '', 'in_flight', 'admitted', gateway)
end

tickets.keep(id, resource, {
  epoch = mine,
  deadline = clock.text(now + asks.ttl),
  gateway = gateway,
  upstream = ARGV[8],
  rule = ARGV[9],
  holder = h,
  intent = intent ~= '' and intent or nil,
  attempt = one.attempts,
  in_doubt = one.in_doubt,
  sequence = not has_place and sequence or nil,
  sequence_before = not has_place and sequence and q or nil,
  gives_epoch_back = asks.strict and not has_place or nil,
  principal = asks.principal,
  notify = asks.notify,
  holds = intent == '' and asks.holds or nil,
  counts = asks.counts and not lives or nil,
})
if sequence and not has_place then
  redis.call('HSET', K.fence, 'q', sequence)
end
if asks.strict and not has_place then
  redis.call('HSET', K.fence, 'w', '1')
elseif w ~= '2' then
  redis.call('HSET', K.fence, 'w', '2')
end

if asks.behind then
  waiters.to_the_end(gateway, micros, now)
  if not asks.serial then
    waiters.wake_head(resource, now)
  end
elseif waiting > 0 then
  waiters.leave(gateway)
end
return { 'admitted', now, n or '0', one.attempts, one.in_doubt, intent ~= '' and one.sent_at or 0 }
