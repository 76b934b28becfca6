-- The audit trail: one event for each step of a write, in the order in which the shard's scripts made them.

local audit = {}

-- The number of the newest event, once `check` has read it.
local number

-- Before the first write of a script: whatever is of the wrong type, or no number, fails here.
function audit.check()
  redis.call('XLEN', K.audit)
  number = (redis.call('GET', K.number) or 0) + 0
end

-- `about` has id, resource, ticket, epoch, holder, upstream, rule, fingerprint and principal, as far as they are known.
-- The number counts the shard's events without a gap; `by` is a gateway, or who resolved.
function audit.note(about, from, to, reason, by)
  local input = about.fingerprint or ''
  number = number + 1
  redis.call('SET', K.number, clock.text(number))
  redis.call(
    'XADD', K.audit, '*',
    'number', number, 'from', from, 'to', to,
    'intent', about.id, 'resource', about.resource, 'ticket', about.ticket, 'epoch', about.epoch,
    'holder', about.holder, 'upstream', about.upstream, 'rule', about.rule,
    'input', string.format(string.rep('%02x', #input), string.byte(input, 1, -1)), 'reason', reason, 'by', by,
    'principal', about.principal or ''
  )
end
