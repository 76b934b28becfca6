-- Promise  G1 before any write: an epoch granted elsewhere is recorded, and older ones are refused from now on.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 gateway, 3 epoch, 4 holder, 5 expected store ms, 6 watch or '', 7 an epoch of
--          the resource that the store must have ('0' for none), 8 ms for which a write may be in flight,
--          9 what the shard began with ('' where this gateway does not know it), 10 the era in which it knows the
--          resource's epochs, 11 when the call has been given up, as in grant.lua
-- Returns  {registered, now, older writes in flight}; or a refusal {stale-epoch, holder-mismatch, store-regressed,
--          began-anew, other-era or late, now, e, h, x, n}
-- Writes   f (e, h), t and o, a and n; refused; for overdue tickets as sweep.lua; w for a watcher

local resource, gateway, epoch, holder = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local now, micros = clock.read()
local judged = clock.judged(now, ARGV[5])
local e, h, b, r, m = unpack(redis.call('HMGET', K.fence, 'e', 'h', 'b', 'r', 'm'))
redis.call('HLEN', K.tickets)
redis.call('HLEN', K.older)
redis.call('HLEN', K.unfinished)
redis.call('HLEN', K.waiters)
audit.check()
local loss = losses.read()
local fault = now > tonumber(ARGV[11]) and 'late'
  or losses.began_anew(ARGV[9]) and 'began-anew'
  or epochs.era(e, b, r, m) ~= ARGV[10] and 'other-era'
  or losses.fault(loss, epoch, '')
  or epochs.less(e or '0', ARGV[7]) and 'store-regressed'

local function refuse(word)
  local about = { id = '', resource = resource, ticket = '', epoch = epoch, holder = holder, upstream = '', rule = '' }
  audit.refused(about, word, gateway)
  return epochs.refusal(word, now)
end

if fault then
  return epochs.refusal(fault, now)
end

if e and epochs.less(epoch, e) then
  return refuse('stale-epoch')
end

if epoch == e and h and h ~= holder then
  return refuse('holder-mismatch')
end

local in_flight = tickets.older_in_flight(resource, now, judged, e, epoch ~= e)
if epoch ~= e then
  epochs.raise(epoch, 'h', holder)
  audit.note_epoch(resource, epoch, holder, 'registered', e and 'above epoch ' .. e or 'the first epoch', gateway)
  waiters.wake_all(resource)
elseif not h then
  redis.call('HSET', K.fence, 'h', holder)
end

in_flight = in_flight + losses.in_flight(loss, ARGV[8], judged)
if in_flight > 0 and ARGV[6] == 'watch' then
  waiters.watch(gateway, micros, now)
end
return { 'registered', now, in_flight }
