-- Promise  G5: ends a ticket as applied, not_applied or unknown, once, and wakes who waited for it. A ticket that is
--          already gone is no fault: it was settled, or swept, or a failover lost it.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 ticket id, 3 epoch, 4 holder, 5 upstream, 6 rule, 7 outcome: applied, not_applied, unknown, or
--          abandoned (not_applied of a ticket that may never have been), 8 reason, 9 in words: by:GATEWAY, sequence:N,
--          leased (its epoch is a lease's), unfinished (its server may be at work on it until
--          its deadline), counts, holds, costs, attempt:N, era:B (of its epoch, as in admit.lua),
--          in-doubt, principal:NAME, notify:EVENTS, trace:ID, of an intent sent:MS (when its first attempt in doubt was
--          admitted), retain:MS, query:MS, no-after:MS, native:HEADER@AT, and of a delivery, for when it is proved not
--          applied, again:MS or again:never; 10 the intent's id (the ticket's without one), 11 its fingerprint, 12 its
--          key, tenant and target ('' without one), 13 the answer to keep ('' if none); of a rule with a compensation
--          14 request or none, 15 the request that would take it back, or why there is none; and of what takes another
--          intent back, in 9, compensates:ID
-- Returns  {settled, now, n, the intent's outcome, incident or ''}; {overtaken, ...} where a newer epoch is the highest
-- Writes   f (e, n, u; q and w, also given back), t or o, u: and d; i, s, p, c, a and n; q, q:, r, k and f (g) of a
--          delivery; m and l; w when it wakes

local resource, id, epoch, reason = ARGV[1], ARGV[2], ARGV[3], ARGV[8]
local abandoned = ARGV[7] == 'abandoned'
local proved = abandoned and 'not_applied' or ARGV[7]
local tells = words.read(ARGV[9])
local intent, about, answer, gateway = ARGV[10], ARGV[12], ARGV[13], tells.by
local attempt = tonumber(tells.attempt)

local now = clock.read()
local e, q, w, n = unpack(redis.call('HMGET', K.fence, 'e', 'q', 'w', 'n'))
local ticket, key = tickets.find(id)
local record = intents.read(intent)
local waiting = redis.call('HLEN', K.waiters)
redis.call('ZCARD', K.deadlines)
redis.call('HLEN', K.unfinished)

-- The record of this attempt: the intent's, if it has no other one by now, or as its gateway tells it.
local own = record
if not record or record.ticket ~= id then
  own = intents.new(intent, about, now)
  own.ticket, own.attempts, own.resource, own.epoch = id, attempt, resource, epoch
  -- Who writes with a lease's secret need not name itself: the ticket has the holder's name.
  own.holder = ticket and ticket.holder or ARGV[4]
  own.upstream, own.rule, own.fingerprint = ARGV[5], ARGV[6], ARGV[11]
  own.principal, own.native, own.notify = tells.principal or '', tells.native or '', tells.notify or ''
  own.retain, own.holds = tonumber(tells.retain or own.retain), tells.holds and '1' or ''
  own.query, own.sent_at = tonumber(tells.query or 0), tonumber(tells.sent or own.sent_at)
  own.no_after = intents.no_after(record and record.no_after or '', tells['no-after'])
  own.in_doubt, own.era = tells['in-doubt'] and 'unknown' or '', tells.era or ''
  own.compensates = tells.compensates or ''
end
own.trace = tells.trace
local concluded, incident = intents.concluded(own, proved), ''
-- A write without a key has a record only when nobody knows what became of it, or where its budgets will ask.
local kept = about ~= '' or concluded == 'unknown' or tells.costs
if record or kept then
  intents.check(record and record.state or '', proved, concluded ~= proved and concluded or '')
else
  audit.check()
end

notifications.check(record)
notifications.check(own)
intents.check_followed(own)
if ARGV[14] then
  redis.call('HLEN', K.shard .. 'c:' .. intent)
end
if record and record.parking ~= '' then
  intents.check('queued', 'failed')
  intents.check_parked(resource, intent)
end

-- As nearly all writes end. What follows is made for the others alone: its functions take a tenth of the call.
local newest = e and not epochs.less(e, epoch)
local plain = own.in_doubt == '' and own.incidents == '' and own == (record or own) and not ARGV[14]
if ticket and newest and plain and proved == 'applied' then
  tickets.drop(id, resource, key)
  if kept then
    own.state, own.answer = 'in_flight', answer ~= '' and answer or own.answer
    intents.step(own, 'applied', now, reason, gateway)
  else
    audit.note(own, 'in_flight', 'applied', reason, gateway)
  end
  n = tickets.count(ticket.counts, 'applied') or n
  if waiting > 0 then
    waiters.wake_next(resource, now, key == K.older and redis.call('EXISTS', K.older) == 0)
  end
  return { epochs.less(epoch, e) and 'overtaken' or 'settled', now, n or '0', 'applied', '' }
end

local function report(kind)
  incident, record.trace = kind, tells.trace
  intents.report(record, kind, id, reason, gateway)
end

-- What would take it back is kept as long as the record; what is written later than this event is written since.
local function keep_compensation(one)
  local undo = K.shard .. 'c:' .. one.id
  redis.call('DEL', undo)
  redis.call('HSET', undo, ARGV[14], ARGV[15], 'number', redis.call('GET', K.shard .. 'n'), 'at', clock.text(now))
  redis.call('PEXPIREAT', undo, clock.text(one.updated_at + one.retain))
end

local function end_as(one, state)
  if state == 'applied' and answer ~= '' then
    one.answer = answer
  elseif one.parking ~= '' then
    -- Why it was refused: whoever waits for it has no other answer.
    one.answer = intents.FREE[state] and answer or ''
  end
  intents.step(one, state, now, reason, gateway)
  if state == 'applied' and ARGV[14] then
    keep_compensation(one)
  end
end

-- Of a delivery that is proved not applied: it is queued again, or has failed for good.
local function after(one, outcome)
  if outcome ~= 'not_applied' or not tells.again or one.parking == '' then
    return outcome
  end
  if tells.again == 'never' then
    return 'failed'
  end
  local told = words.read(one.parking)
  told.failures = told.failures + 1
  intents.park_as(one, told)
  one.due = now + tells.again
  return 'queued'
end

-- The resolution was wrong.
local function overrule()
  record.resolved_by, record.evidence = '', ''
  end_as(record, 'applied')
end

local function keep_answer()
  if record.answer == '' and answer ~= '' then
    record.answer = answer
    intents.keep(record)
  end
  if ARGV[14] and record.state == 'applied' and redis.call('EXISTS', K.shard .. 'c:' .. intent) == 0 then
    keep_compensation(record)
  end
end

-- Proved not applied: its place in the sequence and its epoch's one write are free again, if nobody came after.
local function give_back()
  if ticket.epoch ~= e then
    return
  end
  if ticket.sequence and ticket.sequence == q then
    if ticket.sequence_before then
      redis.call('HSET', K.fence, 'q', ticket.sequence_before)
    else
      redis.call('HDEL', K.fence, 'q')
    end
  end
  if ticket.gives_epoch_back and w == '1' then
    redis.call('HDEL', K.fence, 'w')
  end
end

-- The key was given to another attempt since. What this one did is the effect; it is twice there if the other one did
-- it too, unless the upstream itself refuses the second.
local function tell_other_attempt()
  if proved == 'unknown' and attempt > record.attempts and record.state == 'in_flight' and record.in_doubt == '' then
    -- A failover lost this attempt, and gave its key away before anybody had judged it.
    record.in_doubt, record.no_after, record.sent_at = 'lost', own.no_after, math.min(record.sent_at, own.sent_at)
    intents.keep(record)
  end
  if proved ~= 'applied' then
    return
  end
  local native = record.in_doubt == 'unknown' or record.in_doubt == 'applied'
  local kind = intents.DONE[record.state] and 'duplicate-effect' or 'late-write'
  if record.state == 'in_flight' then
    record.in_doubt, record.answer = native and 'applied' or 'second', answer
    intents.keep(record)
  elseif intents.DONE[record.state] then
    keep_answer()
  else
    overrule()
  end
  if not native then
    report(kind)
  end
end

local function finish()
  tickets.drop(id, resource, key)
  if proved == 'unknown' and tells.unfinished and now < ticket.deadline then
    intents.may_last(own, ticket.deadline - now)
    tickets.leave_unfinished(id, ticket)
  end
  if record and own ~= record then
    tell_other_attempt()
  elseif kept then
    own.state, record = 'in_flight', own
    end_as(own, after(own, concluded))
    if own.in_doubt == 'second' and proved == 'applied' then
      report('duplicate-effect')
    end
  else
    audit.note(own, 'in_flight', concluded, reason, gateway)
  end
  n = tickets.count(ticket.counts, concluded) or n
  if concluded == 'not_applied' then
    give_back()
  end
  if waiting > 0 then
    waiters.wake_next(resource, now, key == K.older and redis.call('EXISTS', K.older) == 0)
  end
end

-- Swept as unknown, or resolved, or settled before; and now there is evidence.
local function correct()
  if record.state == 'in_flight' then
    end_as(record, after(record, concluded))
  elseif record.state == 'unknown' and concluded ~= 'unknown' then
    end_as(record, concluded)
  elseif intents.DONE[record.state] and proved == 'applied' then
    keep_answer()
    if record.in_doubt == 'second' then
      report('duplicate-effect')
    end
  elseif intents.DONE[record.state] and concluded == 'not_applied' then
    report('late-write')
  elseif not intents.DONE[record.state] and proved == 'applied' then
    overrule()
    report('late-write')
  end
end

-- Whether an operator has forgotten its epoch: the one in force is another one, however large.
local function is_forgotten()
  return epochs.less(tells.era or '0', epochs.era(unpack(redis.call('HMGET', K.fence, 'e', 'b', 'r', 'm'))))
end

-- A failover lost the admission; or this is a repeat, and the first call has left nothing to restore.
local function restore()
  if kept then
    own.state, own.created_at = record and record.state or '', record and record.created_at or now
    own.parking, own.heir = record and record.parking or '', record and record.heir or ''
    own.senders, own.calls = record and record.senders or '', record and intents.calls(record) or ''
    own.holds = own.holds ~= '' and own.holds or record and record.holds or ''
    if own.state == 'unknown' and own.in_doubt == '' then
      -- That attempt was judged before the failover, or was made after it, and nobody can tell.
      own.in_doubt, own.sent_at = 'lost', math.min(record.sent_at, own.sent_at)
      concluded = intents.concluded(own, proved)
    end
    intents.step(own, 'in_flight', now, 'its admission was lost', gateway)
    record = own
    end_as(record, concluded)
    n = tickets.count(tells.counts and own.in_doubt ~= 'unknown', concluded) or n
  end
  if concluded == 'not_applied' or epoch ~= e or is_forgotten() then
    return
  end
  if not w then
    redis.call('HSET', K.fence, 'w', '2')
  end
  if tells.sequence and (not q or epochs.less(q, tells.sequence)) then
    redis.call('HSET', K.fence, 'q', tells.sequence)
  end
end

-- Where there is none, an operator may have had the record of its lease collected, of which the newest may have been a
-- larger one: an epoch that is so old comes not back, nor does what takes another intent back bring one.
local is_collected = own.compensates ~= '' or losses.behind_by_right(e, epoch, tells.leased, now)
local is_ahead = not abandoned and (e and epochs.less(e, epoch) or not e and not is_collected)
-- A failover lost the epoch.
if is_ahead and not is_forgotten() then
  if ARGV[4] == '' then
    epochs.raise(epoch)
  else
    epochs.raise(epoch, 'h', ARGV[4])
  end
  waiters.wake_all(resource)
  e, q, w, key = epoch, nil, nil, K.older
end

local reported = record and record.incidents ~= '' and intents.reported(record, id)
if reported then
  incident = reported
elseif ticket then
  finish()
elseif record and own == record then
  correct()
elseif record and (attempt <= record.attempts or intents.DONE[record.state] or record.state == 'in_flight') then
  tell_other_attempt()
elseif not abandoned then
  restore()
end

local ended = record and record.state ~= 'in_flight' and record.state or concluded
if not ticket and not tells.unfinished then
  tickets.finish(id, resource, now)
end
if intents.DONE[ended] then
  ended = 'applied'
elseif ended ~= 'unknown' then
  ended = 'not_applied'
end
return { e and epochs.less(epoch, e) and 'overtaken' or 'settled', now, n or '0', ended, incident }
