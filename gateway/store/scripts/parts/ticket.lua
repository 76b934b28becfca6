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

-- Record a write that ended unknown; it counts as a revision, for it may have been applied.
function tickets.record_unknown(id, resource, ticket, reason, now)
  local at = clock.text(now)
  redis.call(
    'HSET', K.record .. id,
    'v', '1', 'id', id, 'key', '', 'state', 'unknown', 'upstream', ticket.upstream, 'rule', ticket.rule,
    'resource', resource, 'epoch', ticket.epoch, 'holder', ticket.holder, 'created_at', at, 'updated_at', at,
    'reason', reason, 'attempts', '1'
  )
  redis.call('ZADD', K.unknown, at, id)
  if ticket.counts then
    redis.call('HINCRBY', K.fence, 'n', 1)
  end
end

-- End the overdue tickets in `key` as unknown. Returns how many ended, how many are left, and the milliseconds until
-- the next of them is overdue. Reads everything that it writes to before it writes.
function tickets.expire(key, resource, now, judged)
  local overdue, left, due = {}, 0, math.huge
  local flat = redis.call('HGETALL', key)
  for at = 1, #flat, 2 do
    local ticket = cjson.decode(flat[at + 1])
    local remaining = ticket.deadline + GRACE_MS - judged
    if remaining < 0 then
      overdue[#overdue + 1] = { id = flat[at], ticket = ticket }
    else
      left = left + 1
      due = math.min(due, remaining)
    end
  end
  if #overdue > 0 then
    redis.call('ZCARD', K.deadlines)
    redis.call('ZCARD', K.unknown)
  end
  for _, one in ipairs(overdue) do
    tickets.record_unknown(one.id, resource, one.ticket, 'its gateway fell silent', now)
    tickets.drop(one.id, resource, key)
  end
  return #overdue, left, due
end

-- How many older tickets are in flight, once those that are overdue have ended.
function tickets.older_in_flight(resource, now, judged)
  if redis.call('EXISTS', K.older) == 0 then
    return 0
  end
  local ended, left = tickets.expire(K.older, resource, now, judged)
  if ended > 0 then
    waiters.wake_next(resource, now, left == 0)
  end
  return left
end
