-- The audit trail: one event for each step of a write, in the order in which the shard's scripts made them.

local audit = {}

-- Number, from, to, intent, resource, ticket, epoch, holder, upstream, rule, fingerprint, reason, by and principal: one
-- packed field, as packed.py reads it. Numbers are big-endian, and a text has its length before it.
local EVENT = '>I6Bc0Bc0Hc0I4c0Bc0Bc0Hc0Hc0Hc0Bc0I4c0Hc0Hc0'

-- Before the first write of a script: whatever is of the wrong type, or no number, fails here.
function audit.check()
  redis.call('XLEN', K.audit)
  local number = redis.call('GET', K.number)
  if number and not string.find(number, '^%d+$') then
    error('WRONGTYPE the number of events is no number')
  end
end

-- `about` has id, resource, ticket, epoch, holder, upstream, rule, fingerprint and principal, as far as they are known.
-- The number counts the shard's events without a gap; `by` is a gateway, or who resolved. Returns the event's id.
function audit.note(about, from, to, reason, by)
  local id, resource, ticket, epoch, holder = about.id, about.resource, about.ticket, about.epoch, about.holder
  local upstream, rule, input, principal = about.upstream, about.rule, about.fingerprint or '', about.principal or ''
  local number = redis.call('INCR', K.number)
  return redis.call('XADD', K.audit, '*', 'e', struct.pack(
    EVENT, number, #from, from, #to, to, #id, id, #resource, resource, #ticket, ticket, #epoch, epoch, #holder, holder,
    #upstream, upstream, #rule, rule, #input, input, #reason, reason, #by, by, #principal, principal
  ))
end
