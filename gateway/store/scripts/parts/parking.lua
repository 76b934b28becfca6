-- Parked intents: those that wait for an approval, and those that wait in their resource's queue to be delivered. The
-- request of each is kept beside its record until it can be needed no more.

-- States out of which nothing is sent any more, and those after which an operator may have it sent again.
local DONE = { applied = true, superseded = true, denied = true, expired = true }
local AGAIN = { failed = true, not_applied = true }
-- What the store spends on one beside the request: bounds in bytes bound their number too. Spelled in
-- `kept_requests.py` as well.
local OVERHEAD = 1024
local TOLD = { 'since', 'failures', 'digest', 'risk', 'approval', 'expires', 'by', 'senders', 'unused', 'era' }

local function queue_of(resource)
  return K.shard .. 'q:' .. resource
end

-- How it is parked, in words (`words.read`): since when it has been queued, how many deliveries failed since then, the
-- digest of its request, its rule's risk, and the approval: awaited, given or refused, until when, by whom; where
-- there may be several, all principals that sent it, with commas; of one that has failed, that its approval is unused;
-- and the era of its epoch, where that is not the first.
function intents.park_as(record, told)
  local spelled = {}
  for _, word in ipairs(TOLD) do
    if told[word] then
      spelled[#spelled + 1] = word .. ':' .. told[word]
    end
  end
  record.parking = table.concat(spelled, ' ')
end

-- What names one keeping under a key, as it is now (core/parking.py): the next request that is kept there has another
-- one, and so has this one once a delivery of it has ended.
function intents.keeping(record)
  local told = words.read(record.parking)
  return (told.since or '') .. '.' .. (told.failures or '') .. '.' .. (told.digest or '')
end

-- Whether a record is still what a deliverer took from the head of its resource's queue, under this epoch. A successor
-- may have taken it over; or it was delivered by others and has left its key to another request.
function intents.is_as_taken(record, epoch, taken)
  return record and record.state == 'queued' and record.epoch == epoch and intents.keeping(record) == taken
    and redis.call('LINDEX', queue_of(record.resource), 0) == record.id
end

-- Whether a newer epoch rules than the one that it was taken under. `released`: epochs whose lease was given back while
-- something was queued, which is delivered all the same.
function intents.is_overtaken(record, highest, released)
  if not highest or not epochs.less(record.epoch, highest) then
    return false
  end
  return not string.find(' ' .. (released or ''), ' ' .. record.epoch .. ' ', 1, true)
end

-- The queue has another head, or the same one, due then. It is in the order of epochs: released ones before the head's
-- have nothing left in it.
function intents.move_head(resource, due)
  local fence, head = K.shard .. 'f:' .. resource, redis.call('LINDEX', queue_of(resource), 0)
  if not head then
    redis.call('ZREM', K.shard .. 'q', resource)
    redis.call('HDEL', fence, 'g')
    return
  end
  redis.call('ZADD', K.shard .. 'q', clock.text(due), resource)
  local released = redis.call('HGET', fence, 'g')
  local first = released and intents.read(head)
  if not first then
    return
  end
  local left = ''
  for epoch in string.gmatch(released, '%d+') do
    if not epochs.less(epoch, first.epoch) then
      left = left .. epoch .. ' '
    end
  end
  if left == '' then
    redis.call('HDEL', fence, 'g')
  elseif left ~= released then
    redis.call('HSET', fence, 'g', left)
  end
end

-- Before the first write of a script that parks, or moves what is parked.
function intents.check_parked(resource, id)
  redis.call('LLEN', queue_of(resource))
  redis.call('ZCARD', K.shard .. 'q')
  redis.call('ZCARD', K.shard .. 'e')
  redis.call('ZCARD', K.shard .. 'k:parked')
  redis.call('HLEN', K.shard .. 'r:' .. id)
end

-- Each step of an intent that was parked once comes by here. `record.due`: when one that is queued again is due.
function intents.repark(record, from, now)
  local id, to, resource = record.id, record.state, record.resource
  local request, was_queued = K.shard .. 'r:' .. id, from == 'queued' or from == 'in_flight'
  if to == 'queued' and was_queued then
    intents.move_head(resource, record.due)
  elseif to == 'queued' then
    redis.call('RPUSH', queue_of(resource), id)
    redis.call('ZADD', K.shard .. 'q', 'NX', clock.text(now), resource)
  elseif to ~= 'in_flight' and was_queued then
    redis.call('LREM', queue_of(resource), 1, id)
    intents.move_head(resource, now)
  end
  if to == 'awaiting_approval' then
    redis.call('ZADD', K.shard .. 'e', words.read(record.parking).expires, id)
  elseif from == 'awaiting_approval' then
    redis.call('ZREM', K.shard .. 'e', id)
  end
  if DONE[to] then
    redis.call('DEL', request)
    redis.call('ZREM', K.shard .. 'k:parked', id)
  elseif AGAIN[to] then
    redis.call('PEXPIREAT', request, clock.text(now + record.retain))
  else
    redis.call('PERSIST', request)
  end
end

-- Take an intent that is new, or whose key is free again. The first write may be refused for want of memory.
function intents.park(record, to, request, now, micros, by)
  local size = #request + OVERHEAD
  redis.call(
    'HSET', K.shard .. 'r:' .. record.id,
    'for', 'parked', 'at', clock.text(now), 'size', size, 'principal', record.principal,
    'resource', record.resource, 'request', request
  )
  redis.call('ZADD', K.shard .. 'k:parked', clock.text(micros), record.id)
  intents.step(record, to, now, to == 'queued' and 'taken for delivery' or 'waits for an approval', by)
  return size
end

-- Whether so much more may be kept; `room` is what is left.
function intents.fits(request, room)
  return #request + OVERHEAD <= tonumber(room)
end

-- Those that sent it before it was sent last, with commas; '' where none is known.
local function former_senders(record)
  return words.read(record.parking).senders or record.senders
end

-- Whether this principal is one of those that sent it. Of one that a former version took only the last is known.
function intents.was_sent_by(record, principal)
  local senders = ',' .. former_senders(record) .. ','
  return record.principal == principal or string.find(senders, ',' .. principal .. ',', 1, true)
end

-- All principals that have ever sent it, this one too, with commas; nil where none has a name.
function intents.senders(record, principal)
  local all = former_senders(record)
  for _, one in ipairs({ record.principal, principal }) do
    if one ~= '' and not string.find(',' .. all .. ',', ',' .. one .. ',', 1, true) then
      all = all == '' and one or all .. ',' .. one
    end
  end
  return all ~= '' and all or nil
end

local function note_senders(record, principal)
  if record.parking == '' then
    record.senders = intents.senders(record, principal) or ''
    return
  end
  local told = words.read(record.parking)
  told.senders = intents.senders(record, principal)
  intents.park_as(record, told)
end

-- Whoever repeats it is one more that asked for it, in whichever state it is, and cannot be the one that approves it.
function intents.add_sender(record, principal)
  if principal ~= '' and not intents.was_sent_by(record, principal) then
    note_senders(record, principal)
    intents.keep(record)
  end
end

-- Whoever proves a newer epoch takes over what is parked, with the approval that was given. It goes to the end of the
-- queue: those before it are of older epochs.
function intents.adopt(record, epoch, holder, principal, now, by)
  intents.add_sender(record, principal)
  if not epochs.less(record.epoch, epoch) then
    return
  end
  if record.state == 'in_flight' then
    -- This delivery is its own epoch's still. The following one, if there is one, is the successor's.
    local before = record.heir ~= '' and cjson.decode(record.heir)[1] or '0'
    if epochs.less(before, epoch) then
      record.heir = cjson.encode({ epoch, holder, principal })
      intents.keep(record)
    end
    return
  end
  note_senders(record, principal)
  record.epoch, record.holder, record.principal, record.heir = epoch, holder, principal, ''
  intents.keep(record)
  if record.state == 'queued' then
    redis.call('LREM', queue_of(record.resource), 1, record.id)
    redis.call('RPUSH', queue_of(record.resource), record.id)
    intents.move_head(record.resource, record.due or now)
  end
  audit.note(record, record.state, record.state, 'taken over by a newer epoch', by)
end

-- A delivery has ended during which a successor came (`adopt`). Where nothing was done, the intent is that one's.
function intents.hand_over(record, now, by)
  if record.state == 'queued' or AGAIN[record.state] then
    local epoch, holder, principal = unpack(cjson.decode(record.heir))
    -- The delivery's: the successor's is not kept.
    record.trace = nil
    intents.adopt(record, epoch, holder, principal, now, by)
  end
end
