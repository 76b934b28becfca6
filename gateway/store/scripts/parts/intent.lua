-- Intent records: what became of each business action, and its answer. One packed string each, because a hash with an
-- answer in it costs a kilobyte.

local intents = {}

-- Before a record. No MessagePack has its first byte, nor its last: a gateway that knows only the format of former.lua
-- fails wherever it begins to read.
local MARK = '\193f2\193'
-- The numbers created_at, updated_at, sent_at, retain, query, asked and attempts; the texts from state to about, in the
-- order in which they are read below; what few records have; and behind all that the answer, to the end.
local RECORD = '>I6I6I6I6I6I3I4Bc0Bc0Bc0Hc0Bc0Bc0I3c0Hc0Hc0Bc0I3c0I3c0I3c0'
-- What few records have, a map in MessagePack: '' is what is not in it. A new field belongs here.
local RARE = {
  'in_doubt', 'resolved_by', 'evidence', 'incidents', 'notify', 'parking', 'holds', 'compensates', 'heir',
  'senders', 'no_after', 'era', 'calls',
}
-- Where the length of the state is: behind the seven numbers.
local STATE_AT = #MARK + 38
-- States in which a record is listed. One that is in flight is found by its ticket.
local LISTED = {
  unknown = true, applied = true, not_applied = true, awaiting_approval = true, queued = true, denied = true,
  expired = true, superseded = true, failed = true, compensating = true, compensated = true,
}
-- It took effect, and is never sent again: not even when it was taken back.
intents.DONE = { applied = true, compensating = true, compensated = true }
-- Nothing of it was done, and it may be sent anew.
intents.FREE = { not_applied = true, superseded = true, expired = true, failed = true }
-- States in which a record is kept for its time only.
local ENDED = {
  applied = true, not_applied = true, denied = true, expired = true, superseded = true, failed = true,
  compensated = true,
}
-- What becomes of an intent when that is known which takes it back.
local FOLLOWS = { applied = 'compensated', not_applied = 'applied' }
-- Of a write without a key, once it is resolved: a day is for those who read it in the morning.
local RESOLVED_MS = 86400000

local function with_rare(record, rare)
  for at = 1, #RARE do
    record[RARE[at]] = rare[RARE[at]] or ''
  end
  return record
end

local function rare_of(record)
  local rare
  for at = 1, #RARE do
    local value = record[RARE[at]]
    if value ~= '' then
      rare = rare or {}
      rare[RARE[at]] = value
    end
  end
  return rare and cmsgpack.pack(rare) or ''
end

local function unpack_record(id, packed)
  local created_at, updated_at, sent_at, retain, query, asked, attempts, state, ticket, epoch, holder, upstream, rule,
    resource, principal, native, fingerprint, reason, about, rare, at = struct.unpack(RECORD, packed, #MARK + 1)
  return with_rare({
    id = id, created_at = created_at, updated_at = updated_at, sent_at = sent_at, retain = retain, query = query,
    asked = asked, attempts = attempts, state = state, ticket = ticket, epoch = epoch, holder = holder,
    upstream = upstream, rule = rule, resource = resource, principal = principal, native = native,
    fingerprint = fingerprint, reason = reason, about = about, answer = string.sub(packed, at),
  }, rare == '' and {} or cmsgpack.unpack(rare))
end

-- The record, or nil.
function intents.read(id)
  local packed = redis.call('GET', K.shard .. 'i:' .. id)
  if not packed then
    return nil
  end
  if string.sub(packed, 1, #MARK) ~= MARK then
    return with_rare(former.record(id, packed), {})
  end
  return unpack_record(id, packed)
end

-- The state alone, or nil: a record may have an answer of many kilobytes, and its state is in the first 63 bytes.
function intents.state(id)
  local packed = redis.call('GETRANGE', K.shard .. 'i:' .. id, 0, 62)
  if packed == '' then
    return nil
  end
  if string.sub(packed, 1, #MARK) ~= MARK then
    return former.state(packed)
  end
  local state = struct.unpack('Bc0', packed, STATE_AT)
  return state
end

-- A record that nobody has seen; `about` is its key, tenant and target as the gateway spelled them, '' without a key.
function intents.new(id, about, now)
  return {
    id = id, state = '', ticket = '', attempts = 0, epoch = '', holder = '', upstream = '', rule = '',
    resource = '', about = about, fingerprint = '', created_at = now, updated_at = now, sent_at = now, reason = '',
    retain = RESOLVED_MS, query = 0, asked = 0, in_doubt = '', resolved_by = '', evidence = '', answer = '',
    incidents = '', principal = '', native = '', notify = '', parking = '', holds = '',
    compensates = '', heir = '', senders = '', no_after = '', era = '', calls = '',
  }
end

-- Of so many calls that have made attempts of it, or have found one, a copy is known, beside the last one's.
local CALLS = '^%S+ %S+ %S+ '

-- The calls that have made its attempts so far, the latest first, with a blank behind each.
function intents.calls(record)
  local all = record.ticket ~= '' and record.ticket .. ' ' .. record.calls or record.calls
  return string.match(all, CALLS) or all
end

-- A call has found it, and would make an attempt of it where it comes once more.
function intents.found_by(record, call)
  local all = call .. ' ' .. record.calls
  record.calls = string.match(all, CALLS) or all
  intents.keep(record)
end

-- Whether this very call has made an attempt of it that is over, or has found one. It comes once more, over another
-- connection than the one by which it was answered.
function intents.was_made_by(record, call)
  if record.ticket == call then
    return call ~= '' and record.state ~= 'in_flight'
  end
  return record.calls ~= '' and call ~= '' and string.find(' ' .. record.calls, ' ' .. call .. ' ', 1, true) ~= nil
end

-- For how many ms from its end as unknown on no query's no counts, whatever the policies in force then say: an attempt
-- may last as long as those said that it was sent by. `before`: of the attempts before it, one of which may have been
-- executed; '' for none.
function intents.no_after(before, asked)
  return asked and before ~= '' and epochs.larger(before, asked) or asked or before
end

-- Whether its last attempt was made under the epoch `mine` of that era, which is '' in a record for '0'. No instants
-- are compared: a clock may have been set back since.
function intents.has_place(record, mine, era)
  return record.epoch == mine and (record.era == '' and '0' or record.era) == era
end

-- Nobody saw the end of an attempt that became unknown just now: it may last for so many ms yet.
function intents.may_last(record, ms)
  if record.no_after ~= '' then
    record.no_after = clock.text(record.no_after + ms)
  end
end

-- Before the first write of a script: whatever is of the wrong type fails here. `...` are the states from which or to
-- which a step may lead.
function intents.check(...)
  for at = 1, select('#', ...) do
    local state = select(at, ...)
    if LISTED[state] then
      redis.call('ZCARD', K.shard .. 's:' .. state)
    end
    if state == 'unknown' then
      redis.call('ZCARD', K.shard .. 'p')
    end
  end
  audit.check()
end

-- Write the record as it is. An ended one is kept for its time from its end on, the others until they end.
function intents.keep(record)
  local state, ticket, reason, about = record.state, record.ticket, record.reason, record.about
  local epoch, holder, upstream, rule = record.epoch, record.holder, record.upstream, record.rule
  local resource, principal, native, fingerprint = record.resource, record.principal, record.native, record.fingerprint
  local rare = rare_of(record)
  local packed = MARK .. struct.pack(
    RECORD, record.created_at, record.updated_at, record.sent_at, record.retain, record.query, record.asked,
    record.attempts, #state, state, #ticket, ticket, #epoch, epoch, #holder, holder, #upstream, upstream, #rule, rule,
    #resource, resource, #principal, principal, #native, native, #fingerprint, fingerprint, #reason, reason,
    #about, about, #rare, rare
  ) .. record.answer
  if ENDED[state] then
    redis.call('SET', K.shard .. 'i:' .. record.id, packed, 'PXAT', record.updated_at + record.retain)
  else
    redis.call('SET', K.shard .. 'i:' .. record.id, packed)
  end
end

-- One step of the state machine (core/intent.py), with its event.
function intents.step(record, to, now, reason, by)
  local from = record.state
  record.state, record.updated_at, record.reason = to, now, reason
  intents.keep(record)
  if LISTED[from] and from ~= to then
    redis.call('ZREM', K.shard .. 's:' .. from, record.id)
  end
  if LISTED[to] then
    redis.call('ZADD', K.shard .. 's:' .. to, now, record.id)
  end
  if to == 'unknown' and record.query > 0 then
    redis.call('ZADD', K.shard .. 'p', clock.text(now + record.query), record.id)
  elseif from == 'unknown' then
    redis.call('ZREM', K.shard .. 'p', record.id)
  end
  if record.parking ~= '' then
    intents.repark(record, from, now)
  end
  if record.holds ~= '' then
    intents.hold(record)
  end
  notifications.tell(record, to, '', reason, audit.note(record, from, to, reason, by))
  if record.compensates ~= '' then
    intents.follow(record, now, reason, by)
  end
  if record.heir ~= '' and to ~= 'in_flight' then
    intents.hand_over(record, now, by)
  end
end

-- From when it is unknown on, it holds back all other writes of its resource, until that is resolved: a further attempt
-- resolves nothing before it ends.
function intents.hold(record)
  if record.state == 'in_flight' then
    return
  end
  local fence, left = K.shard .. 'f:' .. record.resource, ''
  local held = redis.call('HGET', fence, 'u') or ''
  for id in string.gmatch(held, '%S+') do
    if id ~= record.id then
      left = left .. id .. ' '
    end
  end
  if record.state == 'unknown' then
    left = left .. record.id .. ' '
  end
  if left == '' then
    redis.call('HDEL', fence, 'u')
  elseif left ~= held then
    redis.call('HSET', fence, 'u', left)
  end
end

-- The first of those that hold a resource back, `apart` from this one, and its state; nil if there is none, or if a
-- failover has lost them all.
function intents.holding(held, apart)
  for id in string.gmatch(held, '%S+') do
    local state = intents.state(id)
    if id ~= apart and (state == 'unknown' or state == 'in_flight') then
      return id, state
    end
  end
  return nil
end

-- Of those that hold a resource back, more are not told of.
local TOLD_HOLDING = 10

-- All that hold a resource back, with blanks between them; '' where none does.
function intents.holding_all(held)
  local found = {}
  for id in string.gmatch(held, '%S+') do
    if #found < TOLD_HOLDING and intents.holding(id) then
      found[#found + 1] = id
    end
  end
  return table.concat(found, ' ')
end

-- About as many are looked at in one step: agents may have a hundred thousand waiting.
local AWAITING = 1000

-- How many writes of a resource wait for an approval, and up to when that was looked at, nil at the end: they are in a
-- list of the shard, with those of its other resources. `after` is where the step before this one has stopped, '' for
-- the first. What comes meanwhile is behind all that was looked at.
function intents.awaiting(resource, after)
  local listed, found = K.shard .. 's:awaiting_approval', 0
  local from = (after or '') == '' and '-inf' or '(' .. after
  local last = redis.call('ZRANGE', listed, from, '+inf', 'BYSCORE', 'LIMIT', AWAITING - 1, 1, 'WITHSCORES')[2]
  for _, id in ipairs(redis.call('ZRANGE', listed, from, last or '+inf', 'BYSCORE')) do
    local record = intents.read(id)
    if record and record.resource == resource and record.state == 'awaiting_approval' then
      found = found + 1
    end
  end
  return found, last
end

-- Before the first write of a script that may end what takes another intent back.
function intents.check_followed(record)
  if record and record.compensates ~= '' then
    intents.check('applied', 'compensating', 'compensated')
    notifications.check(intents.read(record.compensates))
  end
end

-- What takes another intent back has ended, and the other one's state follows. Late evidence may say that it was done
-- after all.
function intents.follow(record, now, reason, by)
  local to = FOLLOWS[record.state]
  local first = to and intents.read(record.compensates)
  if not first or first.state ~= 'compensating' and not (first.state == 'applied' and to == 'compensated') then
    return
  end
  intents.step(first, to, now, to == 'compensated' and 'compensated' or 'not compensated: ' .. reason, by)
  redis.call('PEXPIREAT', K.shard .. 'c:' .. first.id, clock.text(now + first.retain))
end

-- What is concluded of what an attempt proved. `in_doubt` says of the attempts before it: `unknown`, one may have been
-- executed, and the upstream refuses a second execution; `applied`, the same, and now it is known that one was;
-- `second`, one was, as turned out after its key had been given away; `lost`, one may have been, and a failover hides
-- what was known of it. A refusal of this attempt proves nothing of them.
function intents.concluded(record, proved)
  local doubt = record.in_doubt
  if doubt == 'applied' or doubt == 'second' then
    return 'applied'
  end
  if proved == 'not_applied' and (doubt == 'unknown' or doubt == 'lost') then
    return 'unknown'
  end
  return proved
end

-- Something that must not happen, found out by the evidence of this ticket.
function intents.report(record, kind, ticket, reason, by)
  record.incidents = record.incidents .. ticket .. ' ' .. kind .. ' '
  intents.keep(record)
  local step = audit.note(record, record.state, record.state, kind .. ': ' .. reason, by)
  notifications.tell(record, 'incident', kind, reason, step)
end

-- What this ticket's evidence was reported as before, or nil: a repeat is answered alike, and not reported again.
function intents.reported(record, ticket)
  local _, at = string.find(record.incidents, ticket .. ' ', 1, true)
  return at and string.match(record.incidents, '^%S+', at + 1)
end

-- The record as a reply: names and values in turn.
function intents.shown(record)
  local flat = {}
  for field, value in pairs(record) do
    flat[#flat + 1] = field
    flat[#flat + 1] = type(value) == 'number' and clock.text(value) or value
  end
  return flat
end
