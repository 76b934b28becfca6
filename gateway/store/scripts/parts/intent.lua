-- Intent records: what became of each business action, and its answer. One packed string each, because a hash with an
-- answer in it costs a kilobyte; the order of the fields is the format, and grows at its end only.

local intents = {}

local FIELDS = {
  'v', 'state', 'ticket', 'attempts', 'epoch', 'holder', 'upstream', 'rule', 'resource', 'about', 'fingerprint',
  'created_at', 'updated_at', 'sent_at', 'reason', 'retain', 'query', 'asked', 'in_doubt', 'resolved_by', 'evidence',
  'answer', 'incidents', 'principal', 'native',
}
-- States in which a record is listed. One that is in flight is found by its ticket.
local LISTED = { unknown = true, applied = true, not_applied = true }
-- Of a write without a key, once it is resolved: a day is for those who read it in the morning.
local RESOLVED_MS = 86400000

function intents.read(id)
  local packed = redis.call('GET', K.record .. id)
  if not packed then
    return nil
  end
  local values = cmsgpack.unpack(packed)
  local record = { id = id }
  for at, field in ipairs(FIELDS) do
    -- One that was written before there was this field.
    record[field] = values[at] or ''
  end
  return record
end

-- The state alone, or nil: a record may have an answer of many kilobytes.
function intents.state(id)
  local packed = redis.call('GETRANGE', K.record .. id, 0, 31)
  if packed == '' then
    return nil
  end
  -- Three bytes say how many fields there are; the first two are the version and the state.
  local _, _, state = cmsgpack.unpack_limit(packed, 2, 3)
  return state
end

-- A record that nobody has seen; `about` is its key, tenant and target as the gateway spelled them, '' without a key.
function intents.new(id, about, now)
  return {
    id = id, v = 1, state = '', ticket = '', attempts = 0, epoch = '', holder = '', upstream = '', rule = '',
    resource = '', about = about, fingerprint = '', created_at = now, updated_at = now, sent_at = now, reason = '',
    retain = RESOLVED_MS, query = 0, asked = 0, in_doubt = '', resolved_by = '', evidence = '', answer = '',
    incidents = '', principal = '', native = '',
  }
end

-- Before the first write of a script: whatever is of the wrong type fails here. `...` are the states from which or to
-- which a step may lead.
function intents.check(...)
  for _, state in ipairs({ ... }) do
    if LISTED[state] then
      redis.call('ZCARD', K.state .. state)
    end
    if state == 'unknown' then
      redis.call('ZCARD', K.questions)
    end
  end
  audit.check()
end

-- Write the record as it is. An ended one is kept for its time from its end on, the others until they end.
function intents.keep(record)
  local values = {}
  for at, field in ipairs(FIELDS) do
    values[at] = record[field]
  end
  local packed = cmsgpack.pack(values)
  if record.state == 'applied' or record.state == 'not_applied' then
    redis.call('SET', K.record .. record.id, packed, 'PXAT', clock.text(record.updated_at + record.retain))
  else
    redis.call('SET', K.record .. record.id, packed)
  end
end

-- One step of the state machine (core/intent.py), with its event.
function intents.step(record, to, now, reason, by)
  local from = record.state
  record.state, record.updated_at, record.reason = to, now, reason
  intents.keep(record)
  if LISTED[from] and from ~= to then
    redis.call('ZREM', K.state .. from, record.id)
  end
  if LISTED[to] then
    redis.call('ZADD', K.state .. to, clock.text(now), record.id)
  end
  if to == 'unknown' and record.query > 0 then
    redis.call('ZADD', K.questions, clock.text(now + record.query), record.id)
  elseif from == 'unknown' then
    redis.call('ZREM', K.questions, record.id)
  end
  audit.note(record, from, to, reason, by)
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
  audit.note(record, record.state, record.state, kind .. ': ' .. reason, by)
end

-- What this ticket's evidence was reported as before, or nil: a repeat is answered alike, and not reported again.
function intents.reported(record, ticket)
  local _, at = string.find(record.incidents, ticket .. ' ', 1, true)
  return at and string.match(record.incidents, '^%S+', at + 1)
end

-- The record as a reply: names and values in turn.
function intents.shown(record)
  local flat = { 'id', record.id }
  for _, field in ipairs(FIELDS) do
    local value = record[field]
    flat[#flat + 1] = field
    flat[#flat + 1] = type(value) == 'number' and clock.text(value) or value
  end
  return flat
end
