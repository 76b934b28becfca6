-- Promise  G5: ends a ticket as applied, not_applied or unknown, once, and wakes who waited for it. A ticket that is
--          already gone is no fault: it was settled, or swept, or a failover lost it.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 ticket id, 3 epoch, 4 holder, 5 upstream, 6 rule, 7 outcome: applied, not_applied, unknown, or
--          abandoned (not_applied of a ticket that may never have been), 8 reason, 9 in words: by:GATEWAY, sequence:N,
--          counts, attempt:N, in-doubt, principal:NAME, and of an intent retain:MS, query:MS, native:HEADER; 10 the
--          intent's id (the ticket's without one), 11 its fingerprint, 12 its key, tenant and target ('' without one),
--          13 the answer to keep ('' if none)
-- Returns  {settled, now, n, the intent's outcome, incident or ''}; {overtaken, ...} where a newer epoch is the highest
-- Writes   f (e, n; q and w, also given back), t or o, and d; i, s, p, a and n; w when it wakes

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

-- The record of this attempt: the intent's, if it has no other one by now, or as its gateway tells it.
local own = record
if not record or record.ticket ~= id then
  own = intents.new(intent, about, now)
  own.ticket, own.attempts, own.resource, own.epoch = id, attempt, resource, epoch
  -- Who writes with a lease's secret need not name itself: the ticket has the holder's name.
  own.holder = ticket and ticket.holder or ARGV[4]
  own.upstream, own.rule, own.fingerprint = ARGV[5], ARGV[6], ARGV[11]
  own.principal, own.native = tells.principal or '', tells.native or ''
  own.retain = tonumber(tells.retain or own.retain)
  own.query = tonumber(tells.query or 0)
  own.in_doubt = tells['in-doubt'] and 'unknown' or ''
end
local concluded, incident = intents.concluded(own, proved), ''
-- A write without a key has a record only when nobody knows what became of it.
local kept = about ~= '' or concluded == 'unknown'
if record or kept then
  intents.check(record and record.state or '', proved, concluded)
else
  audit.check()
end

local function report(kind)
  incident = kind
  intents.report(record, kind, id, reason, gateway)
end

local function end_as(one, state)
  if state == 'applied' and answer ~= '' then
    one.answer = answer
  end
  intents.step(one, state, now, reason, gateway)
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
    record.in_doubt = 'lost'
    intents.keep(record)
  end
  if proved ~= 'applied' then
    return
  end
  local native = record.in_doubt == 'unknown' or record.in_doubt == 'applied'
  local kind = record.state == 'applied' and 'duplicate-effect' or 'late-write'
  if record.state == 'in_flight' then
    record.in_doubt, record.answer = native and 'applied' or 'second', answer
    intents.keep(record)
  elseif record.state == 'applied' then
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
  if record and own ~= record then
    tell_other_attempt()
  elseif kept then
    own.state, record = 'in_flight', own
    end_as(own, concluded)
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
  if record.state == 'in_flight' or (record.state == 'unknown' and concluded ~= 'unknown') then
    end_as(record, concluded)
  elseif record.state == 'applied' and proved == 'applied' then
    keep_answer()
    if record.in_doubt == 'second' then
      report('duplicate-effect')
    end
  elseif record.state == 'applied' and concluded == 'not_applied' then
    report('late-write')
  elseif record.state == 'not_applied' and proved == 'applied' then
    overrule()
    report('late-write')
  end
end

-- A failover lost the admission; or this is a repeat, and the first call has left nothing to restore.
local function restore()
  if kept then
    own.state, own.created_at = record and record.state or '', record and record.created_at or now
    if own.state == 'unknown' and own.in_doubt == '' then
      -- That attempt was judged before the failover, or was made after it, and nobody can tell.
      own.in_doubt = 'lost'
      concluded = intents.concluded(own, proved)
    end
    intents.step(own, 'in_flight', now, 'its admission was lost', gateway)
    record = own
    end_as(record, concluded)
    n = tickets.count(tells.counts and own.in_doubt ~= 'unknown', concluded) or n
  end
  if concluded == 'not_applied' or epoch ~= e then
    return
  end
  if not w then
    redis.call('HSET', K.fence, 'w', '2')
  end
  if tells.sequence and (not q or epochs.less(q, tells.sequence)) then
    redis.call('HSET', K.fence, 'q', tells.sequence)
  end
end

if not abandoned and (not e or epochs.less(e, epoch)) then
  epochs.raise(epoch, 'h', ARGV[4])
  waiters.wake_all(resource)
  e, q, w = epoch, nil, nil
end

local reported = record and intents.reported(record, id)
if reported then
  incident = reported
elseif ticket then
  finish()
elseif record and own == record then
  correct()
elseif record and (attempt <= record.attempts or record.state == 'applied' or record.state == 'in_flight') then
  tell_other_attempt()
elseif not abandoned then
  restore()
end

local ended = record and record.state ~= 'in_flight' and record.state or concluded
return { e and epochs.less(epoch, e) and 'overtaken' or 'settled', now, n or '0', ended, incident }
