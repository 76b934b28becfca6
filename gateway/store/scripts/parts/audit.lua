-- The audit trail: each step of a write, who got an epoch and gave it back, and whom the fence refused; one event each,
-- in the order in which the shard's scripts made them.

local audit = {}

-- Number, from, to, intent, resource, ticket, epoch, holder, upstream, rule, fingerprint, reason, by and principal: one
-- packed field, as packed.py reads it. Numbers are big-endian, and a text has its length before it. Of a request that
-- names its trace that one's id comes behind: a gateway that does not know it reads no further than the rest.
local EVENT = '>I6Bc0Bc0Hc0I4c0Bc0Bc0Hc0Hc0Hc0Bc0I4c0Hc0Hc0'
-- So many refusals of a shard are told within so many ms: who tries on and on must not push out what others did.
local REFUSALS, REFUSALS_MS = 16, 60000
local BY_THE_FENCE = { ['stale-epoch'] = true, ['holder-mismatch'] = true, ['lease-expired'] = true }

-- Before the first write of a script: whatever is of the wrong type, or no number, fails here.
function audit.check()
  redis.call('XLEN', K.audit)
  local number = redis.call('GET', K.number)
  if number and not string.find(number, '^%d+$') then
    error('WRONGTYPE the number of events is no number')
  end
end

-- `about` has id, resource, ticket, epoch, holder, upstream, rule, fingerprint, principal and trace, as far as they are
-- known.
-- The number counts the shard's events without a gap; `by` is a gateway, or who resolved. Returns the event's id.
function audit.note(about, from, to, reason, by)
  local id, resource, ticket, epoch, holder = about.id, about.resource, about.ticket, about.epoch, about.holder
  local upstream, rule, input, principal = about.upstream, about.rule, about.fingerprint or '', about.principal or ''
  local number = redis.call('INCR', K.number)
  local packed = struct.pack(
    EVENT, number, #from, from, #to, to, #id, id, #resource, resource, #ticket, ticket, #epoch, epoch, #holder, holder,
    #upstream, upstream, #rule, rule, #input, input, #reason, reason, #by, by, #principal, principal
  )
  local trace = about.trace
  if trace and trace ~= '' then
    packed = packed .. struct.pack('Bc0', #trace, trace)
  end
  return redis.call('XADD', K.audit, '*', 'e', packed)
end

-- What belongs to no write: an epoch, and who has it.
function audit.note_epoch(resource, epoch, holder, to, reason, by)
  audit.note({
    id = '', resource = resource, ticket = '', epoch = epoch, holder = holder, upstream = '', rule = '',
  }, '', to, reason, by)
end

-- A write or an epoch was refused: by the fence, it is told once of a resource, epoch and word in a while. What cannot
-- be told (a store without room) is refused all the same.
function audit.refused(about, word, by)
  if not BY_THE_FENCE[word] then
    return
  end
  local key, field = K.shard .. 'refused', word .. ' ' .. about.epoch .. ' ' .. about.resource
  local told = redis.pcall('HLEN', key)
  if type(told) ~= 'number' or told >= REFUSALS or redis.call('HEXISTS', key, field) == 1 then
    return
  end
  if redis.pcall('HSET', key, field, '') ~= 1 then
    return
  end
  if told == 0 then
    redis.call('PEXPIRE', key, REFUSALS_MS)
  end
  audit.note(about, '', 'refused', word, by)
end
