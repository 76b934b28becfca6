-- Promise  G5: ends a ticket as applied, not_applied or unknown, once, and wakes who waited for it. A ticket that is
--          already gone is no fault: it was settled, or swept, or a failover lost it.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 ticket id, 3 epoch, 4 holder, 5 upstream, 6 rule, 7 outcome: applied, not_applied, unknown, or
--          abandoned (not_applied of a ticket that may never have been), 8 reason, 9 sequence ('' if none), 10 counts
--          or ''
-- Returns  {settled, now, n}, or {overtaken, now, n} where a newer epoch is the highest by now
-- Writes   t or o, and d; f (n; q and w given back); i and s where unknown; w when it wakes

local resource, id, epoch, outcome, sequence = ARGV[1], ARGV[2], ARGV[3], ARGV[7], ARGV[9]
-- A resolved record has been seen by whoever waited for it; a day is for those who read it in the morning.
local RESOLVED_MS = 86400000

local now = clock.read()
local e, q, w = unpack(redis.call('HMGET', K.fence, 'e', 'q', 'w'))
local ticket, key = tickets.find(id)
local state = not ticket and redis.call('HGET', K.record .. id, 'state')
local waiting = redis.call('HLEN', K.waiters)
redis.call('ZCARD', K.deadlines)
if not ticket or outcome == 'unknown' then
  redis.call('ZCARD', K.unknown)
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

local function finish()
  tickets.drop(id, resource, key)
  if outcome == 'unknown' then
    tickets.record_unknown(id, resource, ticket, ARGV[8], now)
  elseif outcome ~= 'applied' then
    give_back()
  elseif ticket.counts then
    redis.call('HINCRBY', K.fence, 'n', 1)
  end
  if waiting > 0 then
    waiters.wake_next(resource, now, key == K.older and redis.call('EXISTS', K.older) == 0)
  end
end

-- Swept as unknown meanwhile, and now it is known.
local function resolve()
  local resolved = outcome == 'applied' and 'applied' or 'not_applied'
  redis.call('HSET', K.record .. id, 'state', resolved, 'updated_at', clock.text(now), 'reason', ARGV[8])
  redis.call('PEXPIRE', K.record .. id, RESOLVED_MS)
  redis.call('ZREM', K.unknown, id)
end

-- A failover lost the admission, or this is a repeat, which finds nothing left to restore.
local function restore()
  if not e or epochs.less(e, epoch) then
    epochs.raise(epoch, 'h', ARGV[4])
    waiters.wake_all(resource)
    e, q, w = epoch, nil, nil
  end
  if outcome == 'unknown' then
    local lost = { epoch = epoch, holder = ARGV[4], upstream = ARGV[5], rule = ARGV[6], counts = ARGV[10] == 'counts' }
    tickets.record_unknown(id, resource, lost, ARGV[8], now)
  end
  if outcome == 'not_applied' or epoch ~= e then
    return
  end
  if not w then
    redis.call('HSET', K.fence, 'w', '2')
  end
  if sequence ~= '' and (not q or epochs.less(q, sequence)) then
    redis.call('HSET', K.fence, 'q', sequence)
  end
end

if ticket then
  finish()
elseif state == 'unknown' and outcome ~= 'unknown' then
  resolve()
elseif not state and outcome ~= 'abandoned' then
  restore()
end

local highest, n = unpack(redis.call('HMGET', K.fence, 'e', 'n'))
return { highest and epochs.less(epoch, highest) and 'overtaken' or 'settled', now, n or '0' }
