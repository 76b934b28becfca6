-- Tickets: issued by admit, ended by settle, or as unknown once their gateway has been silent past deadline and grace.

local tickets = {}

-- The ticket and the key in which it is, or nil.
function tickets.find(id)
  for _, key in ipairs({ K.tickets, K.older }) do
    local packed = redis.call('HGET', key, id)
    if packed then
      return cjson.decode(packed), key
    end
  end
  return nil
end

function tickets.issue(id, resource, ticket)
  redis.call('HSET', K.tickets, id, cjson.encode(ticket))
  redis.call('ZADD', K.deadlines, ticket.deadline, id .. ' ' .. resource)
end

function tickets.drop(id, resource, key)
  redis.call('HDEL', key, id)
  redis.call('ZREM', K.deadlines, id .. ' ' .. resource)
end

-- The record of an overdue ticket: its intent's, or a new one, as a write without a key gets when it ends unknown. Nil
-- if the intent has another attempt by now, which a failover alone can bring about.
local function record_of(id, resource, ticket, now)
  local record = ticket.intent and intents.read(ticket.intent)
  if record then
    return record.ticket == id and record or nil
  end
  record = intents.new(ticket.intent or id, '', now)
  record.state, record.ticket, record.attempts, record.resource = 'in_flight', id, 1, resource
  record.epoch, record.holder, record.upstream, record.rule = ticket.epoch, ticket.holder, ticket.upstream, ticket.rule
  record.principal = ticket.principal or ''
  return record
end

-- An unknown write counts as a revision, for it may have been applied. Returns the new count if there is one.
function tickets.count(counts, outcome)
  return counts and outcome ~= 'not_applied' and redis.call('HINCRBY', K.fence, 'n', 1) or nil
end

tickets.NONE = { overdue = {}, left = 0, due = math.huge }

-- The tickets in `key`: the overdue ones, how many are left, and the milliseconds until the next of them is overdue.
-- Reads everything that `lapse` writes to, but for the fence.
function tickets.judge(key, resource, now, judged)
  local found = { key = key, overdue = {}, left = 0, due = math.huge }
  local flat = redis.call('HGETALL', key)
  for at = 1, #flat, 2 do
    local id, ticket = flat[at], cjson.decode(flat[at + 1])
    local remaining = ticket.deadline + GRACE_MS - judged
    if remaining < 0 then
      local record = record_of(id, resource, ticket, now)
      found.overdue[#found.overdue + 1] = { id = id, ticket = ticket, record = record }
    else
      found.left = found.left + 1
      found.due = math.min(found.due, remaining)
    end
  end
  if #found.overdue > 0 then
    redis.call('ZCARD', K.deadlines)
    intents.check('unknown', 'applied')
  end
  return found
end

-- End the overdue ones as unknown.
function tickets.lapse(found, resource, now)
  for _, one in ipairs(found.overdue) do
    local outcome = 'unknown'
    if one.record then
      outcome = intents.concluded(one.record, 'unknown')
      intents.step(one.record, outcome, now, 'its gateway fell silent', one.ticket.gateway)
    end
    tickets.count(one.ticket.counts, outcome)
    tickets.drop(one.id, resource, found.key)
  end
end

-- How many older tickets are in flight, once those that are overdue have ended. `raises`: a larger epoch is about to
-- make those of the highest epoch older ones.
function tickets.older_in_flight(resource, now, judged, raises)
  local older = tickets.judge(K.older, resource, now, judged)
  local current = raises and tickets.judge(K.tickets, resource, now, judged) or tickets.NONE
  tickets.lapse(older, resource, now)
  tickets.lapse(current, resource, now)
  if #older.overdue > 0 and not raises then
    waiters.wake_next(resource, now, older.left == 0)
  end
  return older.left + current.left
end
