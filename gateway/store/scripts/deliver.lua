-- Promise  G1, G3 and G4 for what was queued: a ticket for the head of a queue, if no newer epoch rules than the one
--          that it was taken under, and nothing older is in flight. Its lease and its secret were proved then.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 ticket id, 3 gateway, 4 the intent's id, 5 expected store ms, 6 in words: ttl:MS, lasts:MS,
--          serial, no-after:MS, native:HEADER@AT (where it is sent), queued or behind of the gateway's other writes
--          that wait, until:MS, seen:E, known, era:B (as in admit.lua), trace:ID; of what was taken 7 the epoch, 8 the
--          keeping
-- Returns  as admit.lua: {admitted, now, n, attempt, '', when it was}; {wait-older or wait-busy, now, ms until to ask
--          again}; or a refusal {late, other-era, paused, store-regressed, stale-epoch (and it is superseded) or
--          intent-in-progress (it is no longer what was taken), now, e, h, x, n, intent, its state}, or resource-held,
--          the same of what holds it
-- Writes   f (w; e and h after a failover), t or o, and d; i, s, a and n; q, q:, r and k where it ends; for overdue
--          tickets as sweep.lua; w for whoever waits

local resource, id, gateway, intent = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local asks = words.read(ARGV[6])

local now, micros = clock.read()
local judged = clock.judged(now, ARGV[5])
local found = redis.call('HMGET', K.fence, 'e', 'g', 'n', 'w', 'p', 'b', 'r', 'm')
local e, released, n, w, paused = unpack(found)
redis.call('HLEN', K.tickets)
redis.call('HLEN', K.older)
redis.call('HLEN', K.unfinished)
local waiting = redis.call('HLEN', K.waiters)
redis.call('ZCARD', K.deadlines)
local loss = losses.read()
local record = intents.read(intent)
intents.check_parked(resource, intent)
intents.check('queued', 'superseded', 'unknown', 'applied')

local function refuse(word)
  waiters.give_up(resource, gateway, asks, now)
  return epochs.refusal(word, now, intent, record and record.state)
end

local function wait(word, due)
  waiters.wait(gateway, micros, now)
  return { word, now, math.min(math.max(due, 10), 500) }
end

-- Its own repeat: the reply was lost, the ticket is there.
local own = tickets.find(id)
if own then
  return { 'admitted', now, n or '0', own.attempt, '', record and record.ticket == id and record.sent_at or 0 }
end

-- Given up; or it comes once more behind its own end.
if asks['until'] and now > tonumber(asks['until']) or record and intents.was_made_by(record, id) then
  return epochs.refusal('late', now)
end

if epochs.era(e, found[6], found[7], found[8]) ~= (asks.era or '0') then
  return epochs.refusal('other-era', now)
end

if paused then
  return refuse('paused')
end

-- It may have been sent before, and that lost; or a newer epoch was.
local seen = asks.known and ARGV[7] or asks.seen
local is_behind = seen and epochs.less(e or '0', seen)
if loss and loss.open or is_behind then
  return refuse('store-regressed')
end

-- Another one delivers it, or has done so; or a successor has taken it over.
if not intents.is_as_taken(record, ARGV[7], ARGV[8]) then
  return refuse('intent-in-progress')
end

if intents.is_overtaken(record, e, released) then
  intents.step(record, 'superseded', now, 'a newer epoch rules', gateway)
  return refuse('stale-epoch')
end

-- Under a released epoch it is itself an older write, for which newer ones wait.
local is_older = e and epochs.less(record.epoch, e)
local before, beside = tickets.lapse_all(resource, now, judged)
if not e or epochs.less(e, record.epoch) then
  -- A failover lost the epoch.
  epochs.raise(record.epoch, 'h', record.holder)
  waiters.wake_all(resource)
  before = { left = before.left + beside.left, due = math.min(before.due, beside.due) }
  beside = tickets.NONE
end
local held = redis.call('HGET', K.fence, 'u')
local holds, its_state
if held then
  holds, its_state = intents.holding(held)
end
if holds then
  waiters.give_up(resource, gateway, asks, now)
  return epochs.refusal('resource-held', now, holds, its_state)
end

local forgotten = losses.in_flight_ms(loss, math.max(asks.ttl, asks.lasts or 0), judged)
if forgotten > 0 then
  return wait('wait-older', forgotten)
end

local unfinished = tickets.unfinished(record.epoch, judged)
if before.left + unfinished.left > 0 then
  return wait('wait-older', math.min(before.due, unfinished.due))
end

if (asks.serial or is_older) and beside.left > 0 then
  return wait('wait-busy', beside.due)
end

if asks.serial and waiting > 0 and not is_older and not waiters.none_before(gateway, asks.queued, now) then
  return wait('wait-busy', 500)
end

record.ticket, record.attempts, record.sent_at, record.trace = id, record.attempts + 1, now, asks.trace
record.no_after, record.era, record.native = asks['no-after'] or '', asks.era or '', asks.native or record.native
intents.step(record, 'in_flight', now, 'delivered', gateway)
tickets.keep(id, resource, {
  epoch = record.epoch,
  deadline = clock.text(now + asks.ttl),
  gateway = gateway,
  upstream = record.upstream,
  rule = record.rule,
  holder = record.holder,
  intent = intent,
  attempt = record.attempts,
  principal = record.principal,
}, is_older and K.older)
if not is_older and w ~= '2' then
  redis.call('HSET', K.fence, 'w', '2')
end

if waiting > 0 and not asks.behind then
  waiters.leave(gateway)
elseif asks.behind then
  waiters.to_the_end(gateway, micros, now)
end
return { 'admitted', now, n or '0', record.attempts, '', now }
