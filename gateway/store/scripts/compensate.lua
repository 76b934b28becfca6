-- Promise  G3 and G4 for what an operator takes back: a ticket for the request that does so, once, under the highest
--          epoch as it is, and only while nothing else is in flight, nor queued under a lease that was given back, nor
--          unknown so that it holds the resource. A pause does not stop it: whoever takes something back may have
--          stopped all else for it.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 the intent's id, 3 the id of the one that takes it back, 4 ticket id, 5 gateway, 6 expected
--          store ms, 7 in words: ttl:MS, lasts:MS, queued, counts, holds, native:HEADER@AT, notify:EVENTS; 8 key,
--          tenant and target of the one that takes it back,
--          in one text; 9 note, 10 by whom, 11 when the call has been given up, as in grant.lua
-- Returns  {admitted, now, epoch, attempt}; {wait-busy or wait-older, now, ms until to ask again}; {wrong-state, now,
--          the record's fields and their values in turn}; {not-kept, now, why}; {resource-held, now, the intents that
--          hold it, with blanks}; {unseen, late, lost or store-regressed, now}
-- Writes   t and d; i, s, c, a and n; m and l; for overdue tickets as sweep.lua; w for whoever waits

local resource, id, gateway = ARGV[1], ARGV[4], ARGV[5]
local asks = words.read(ARGV[7])

local now, micros = clock.read()
local judged = clock.judged(now, ARGV[6])
local e, h = unpack(redis.call('HMGET', K.fence, 'e', 'h'))
redis.call('HLEN', K.tickets)
redis.call('HLEN', K.older)
redis.call('HLEN', K.unfinished)
redis.call('ZCARD', K.deadlines)
local waiting = redis.call('HLEN', K.waiters)
local undo = K.shard .. 'c:' .. ARGV[2]
local request, why = unpack(redis.call('HMGET', undo, 'request', 'none'))
local loss = losses.read()
local first, second = intents.read(ARGV[2]), intents.read(ARGV[3])
intents.check('unknown', 'applied', 'not_applied', 'compensating', 'compensated')
notifications.check(first)
notifications.check(second)
if not first then
  return { 'unseen', now }
end

local function wait(word, due)
  waiters.wait(gateway, micros, now)
  return { word, now, math.min(math.max(due, 10), 500) }
end

-- Its own repeat: the reply was lost, the ticket is there.
local own = tickets.find(id)
if own then
  return { 'admitted', now, own.epoch, own.attempt }
end

-- Its gateway has given it up, and sends nothing under this ticket; or it comes once more behind its own end.
if now > tonumber(ARGV[11]) or second and intents.was_made_by(second, id) then
  return { 'late', now }
end

if first.state ~= 'applied' or second and not intents.FREE[second.state] then
  return { 'wrong-state', now, unpack(intents.shown(first)) }
end

if not request then
  return { 'not-kept', now, why or '' }
end

-- It may have been taken back before; or what was sent under lost tickets is still on its way.
if loss and loss.open then
  return { 'store-regressed', now }
end
if losses.may_have_forgotten(loss, clock.text(first.sent_at)) then
  return { 'lost', now }
end

local forgotten = losses.in_flight_ms(loss, math.max(asks.ttl, asks.lasts or 0), judged)
if forgotten > 0 then
  return { 'wait-busy', now, math.min(forgotten, 500) }
end

local before, beside = tickets.lapse_all(resource, now, judged)
local holding, released = unpack(redis.call('HMGET', K.fence, 'u', 'g'))
local held_by = holding and intents.holding_all(holding) or ''
if held_by ~= '' then
  waiters.give_up(resource, gateway, asks, now)
  return { 'resource-held', now, held_by }
end

-- As for any newcomer, what was queued under a lease that was given back counts as an older write in flight.
if before.left > 0 or released then
  return wait('wait-older', before.due)
end

local unfinished = tickets.unfinished(nil, judged)
if beside.left + unfinished.left > 0 then
  return wait('wait-busy', math.min(beside.due, unfinished.due))
end

if waiting > 0 and not waiters.none_before(gateway, asks.queued, now) then
  return wait('wait-busy', 500)
end

local two = second or intents.new(ARGV[3], ARGV[8], now)
two.calls = second and intents.calls(second) or ''
two.ticket, two.attempts, two.about, two.sent_at = id, two.attempts + 1, ARGV[8], now
-- Where there is none, an operator had the record of its lease collected.
two.epoch, two.holder = e or first.epoch, h or ''
two.upstream, two.rule, two.resource, two.retain = first.upstream, first.rule, resource, first.retain
two.native, two.notify, two.holds = asks.native or '', asks.notify or '', asks.holds and '1' or ''
two.compensates = first.id
two.answer, two.evidence, two.resolved_by, two.in_doubt = '', '', '', ''
redis.call('PERSIST', undo)
intents.step(two, 'in_flight', now, ARGV[9], ARGV[10])
intents.step(first, 'compensating', now, ARGV[9], ARGV[10])
tickets.keep(id, resource, {
  epoch = two.epoch,
  deadline = clock.text(now + asks.ttl),
  gateway = gateway,
  upstream = two.upstream,
  rule = two.rule,
  holder = two.holder,
  intent = two.id,
  attempt = two.attempts,
  notify = asks.notify,
  counts = asks.counts and true or nil,
})
if waiting > 0 then
  waiters.leave(gateway)
end
return { 'admitted', now, two.epoch, two.attempts }
