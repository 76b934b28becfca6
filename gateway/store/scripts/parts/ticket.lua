-- Tickets: issued by admit, ended by settle, or as unknown once their gateway has been silent past deadline and grace.
-- One that ended as unknown may be unfinished: its server may be at work on it until its deadline.

local tickets = {}

-- Before a ticket. No JSON begins with it: a gateway that knows only the format of former.lua fails.
local TICKET_MARK = '\2'
-- Deadline and attempt; gateway, intent ('' without a key), epoch, holder, upstream and rule, as packed.py reads them;
-- whether it counts as a revision; in doubt; and what few tickets have.
local TICKET = '>I6I4Bc0Bc0Bc0Hc0Hc0Hc0BBc0Hc0'
-- What few tickets have, a map in MessagePack. A new field belongs here.
local RARE_OF_TICKET = { 'sequence', 'sequence_before', 'gives_epoch_back', 'principal', 'notify', 'holds' }

-- For how long unfinished writes are kept, the newest of them: past any deadline, also where the clock jumps forward.
local UNFINISHED_KEPT_MS = 24 * 3600 * 1000
-- Of a resource so many are kept one by one, and of all others, as `more`, how long the last of them may be at work:
-- every write of the resource reads them meanwhile.
local MOST_UNFINISHED = 16

local function unpack_ticket(packed)
  if string.sub(packed, 1, 1) ~= TICKET_MARK then
    return cjson.decode(packed)
  end
  local deadline, attempt, gateway, intent, epoch, holder, upstream, rule, counts, in_doubt, rare =
    struct.unpack(TICKET, packed, 2)
  local ticket = {
    deadline = deadline, attempt = attempt, gateway = gateway, intent = intent ~= '' and intent or nil, epoch = epoch,
    holder = holder, upstream = upstream, rule = rule, counts = counts == 1, in_doubt = in_doubt,
  }
  for field, value in pairs(rare ~= '' and cmsgpack.unpack(rare) or {}) do
    ticket[field] = value
  end
  return ticket
end

-- What few tickets have, packed; '' for nothing.
local function pack_rare(ticket)
  local rare
  for at = 1, #RARE_OF_TICKET do
    local value = ticket[RARE_OF_TICKET[at]]
    if value then
      rare = rare or {}
      rare[RARE_OF_TICKET[at]] = value
    end
  end
  return rare and cmsgpack.pack(rare) or ''
end

local function put_ticket(key, id, ticket)
  local gateway, intent, in_doubt = ticket.gateway, ticket.intent or '', ticket.in_doubt or ''
  local epoch, holder, upstream, rule = ticket.epoch, ticket.holder, ticket.upstream, ticket.rule
  local rare = pack_rare(ticket)
  redis.call('HSET', key, id, TICKET_MARK .. struct.pack(
    TICKET, ticket.deadline, ticket.attempt or 1, #gateway, gateway, #intent, intent, #epoch, epoch, #holder, holder,
    #upstream, upstream, #rule, rule, ticket.counts and 1 or 0, #in_doubt, in_doubt, #rare, rare
  ))
end

-- `key` is where it is put: among those of the highest epoch, where nothing is said.
function tickets.keep(id, resource, ticket, key)
  put_ticket(key or K.tickets, id, ticket)
  redis.call('ZADD', K.deadlines, ticket.deadline, id .. ' ' .. resource)
end

-- The ticket and the key in which it is, or nil.
function tickets.find(id)
  local packed = redis.call('HGET', K.tickets, id)
  if packed then
    return unpack_ticket(packed), K.tickets
  end
  packed = redis.call('HGET', K.older, id)
  if packed then
    return unpack_ticket(packed), K.older
  end
  return nil
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
  record.principal, record.notify = ticket.principal or '', ticket.notify or ''
  record.holds = ticket.holds and '1' or ''
  return record
end

-- An unknown write counts as a revision, for it may have been applied. Returns the new count if there is one.
function tickets.count(counts, outcome)
  return counts and outcome ~= 'not_applied' and redis.call('HINCRBY', K.fence, 'n', 1) or nil
end

-- `math` is not there yet while a library is loaded.
tickets.NONE = { overdue = {}, left = 0, due = 1 / 0, over = {} }

-- The unfinished writes of epochs older than `below`, or of all: how many there are, the milliseconds until the next of
-- them is over, and the ids of all that are. `judged`: the instant by which tickets are judged.
function tickets.unfinished(below, judged)
  local found = { left = 0, due = math.huge, over = {} }
  local flat = redis.call('HGETALL', K.unfinished)
  for at = 1, #flat, 2 do
    local ticket = unpack_ticket(flat[at + 1])
    local remaining = ticket.deadline - judged
    if remaining <= 0 then
      found.over[#found.over + 1] = flat[at]
    elseif not below or epochs.less(ticket.epoch, below) then
      found.left = found.left + 1
      found.due = math.min(found.due, remaining)
    end
  end
  return found
end

function tickets.forget(over)
  if #over > 0 then
    redis.call('HDEL', K.unfinished, unpack(over))
  end
end

-- It ended as unknown just now, and its server may be at work on it until its deadline: until then newer epochs wait.
-- Its own epoch's holder was told that nobody knows, and goes on.
function tickets.leave_unfinished(id, ticket)
  if redis.call('HLEN', K.unfinished) < MOST_UNFINISHED then
    put_ticket(K.unfinished, id, ticket)
  else
    local last = redis.call('HGET', K.unfinished, 'more')
    local deadline = last and math.max(unpack_ticket(last).deadline, ticket.deadline) or ticket.deadline
    ticket.deadline = clock.text(deadline)
    put_ticket(K.unfinished, 'more', ticket)
  end
  redis.call('PEXPIRE', K.unfinished, UNFINISHED_KEPT_MS)
end

-- Its server is done with it; whoever waited for that goes on.
function tickets.finish(id, resource, now)
  if redis.call('HDEL', K.unfinished, id) == 1 then
    waiters.wake_next(resource, now, redis.call('EXISTS', K.older, K.unfinished) == 0)
  end
end

-- The tickets in `key`: the overdue ones, how many are left, and the milliseconds until the next of them is overdue.
-- Reads everything that `lapse` writes to, but for the fence.
function tickets.judge(key, resource, now, judged)
  local found = { key = key, overdue = {}, left = 0, due = math.huge }
  local flat = redis.call('HGETALL', key)
  for at = 1, #flat, 2 do
    local id, ticket = flat[at], unpack_ticket(flat[at + 1])
    local remaining = ticket.deadline + GRACE_MS - judged
    if remaining < 0 then
      local record = record_of(id, resource, ticket, now)
      notifications.check(record)
      intents.check_followed(record)
      if record and record.parking ~= '' then
        intents.check_parked(resource, record.id)
      end
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

-- End what is overdue, of older epochs and of the highest one, and have those go on who waited for it.
function tickets.lapse_all(resource, now, judged)
  local older, current = tickets.judge(K.older, resource, now, judged), tickets.judge(K.tickets, resource, now, judged)
  tickets.lapse(older, resource, now)
  tickets.lapse(current, resource, now)
  if #older.overdue + #current.overdue > 0 then
    waiters.wake_next(resource, now, #older.overdue > 0 and older.left == 0)
  end
  return older, current
end

-- How many older writes are in flight or unfinished, once the overdue tickets have ended. `highest`: the epoch so far;
-- `raises`: a larger one is about to make its tickets older ones.
function tickets.older_in_flight(resource, now, judged, highest, raises)
  local older = tickets.judge(K.older, resource, now, judged)
  local current = raises and tickets.judge(K.tickets, resource, now, judged) or tickets.NONE
  local unfinished = tickets.unfinished(not raises and highest, judged)
  tickets.lapse(older, resource, now)
  tickets.lapse(current, resource, now)
  if #older.overdue > 0 and not raises then
    waiters.wake_next(resource, now, older.left == 0)
  end
  tickets.forget(unfinished.over)
  return older.left + current.left + unfinished.left
end
