-- Promise  G2: from the moment of the grant every older epoch is refused, even if the new one has written nothing.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 gateway, 3 holder, 4 digest of the secret, 5 ttl in ms, 6 expected store ms, 7 the largest
--          epoch that this gateway has seen for the resource, 8 words: takeover, watch, repeats, looks (whether it
--          was granted by this call), known (the store must have that epoch, or has lost it), lasts:MS (how long a
--          write may be in flight), until:MS (when the call has been given up, by this gateway's idea of the store's
--          clock), older:MS/FROM/TO (as in parts/epoch.lua), counts:PRINCIPAL (whose quota the lease counts for); 9
--          what the shard began with ('' where this gateway does not know it); 10 the era in which it knows the
--          resource's epochs; 11 of a call with a key: 16 bytes that name it, and those that make its secret this
--          grant's alone
-- Returns  {granted, now, e, h, l, x, older writes in flight or unfinished}, of one taken over that counts for a
--          quota also its e, s and c; or a refusal {word, now, e, h, x, n}: lease-held, epochs-exhausted,
--          store-regressed, began-anew, other-era; late: it is executed behind `until`; key-used: the lease of the
--          call's key has ended; key-in-use: it lives under another secret; keys-remembered: too many are (x is when
--          the first of them is forgotten)
-- Writes   f (e, h, s, k, x, y, l, c, g), g, t and o, a and n; for overdue tickets as sweep.lua; w for a watcher

local resource, gateway, secret, ttl = ARGV[1], ARGV[2], ARGV[4], ARGV[5]
local asks = words.read(ARGV[8])
local mark = ARGV[11] or ''
-- Each principal's apart: nobody's grants make another's key forgotten.
local used_keys = KEYS[7] .. 'g:' .. string.sub(mark, 1, 4) .. resource

-- A late duplicate comes within minutes, and a day later hardly anybody repeats a call.
local REMEMBERED_MS = 24 * 3600 * 1000
-- So many of a principal and resource, some 120 kB: more would let a loop of grants fill the store. None makes room for
-- another before its day is over: its late duplicate would be granted anew, and evict who has the lease by then.
local REMEMBERED = 1000

-- So many bytes of epochs that were given back while something was queued, a thousand of them: before a queue that
-- stands still, a loop of grants would fill the store and slow down every write. What is queued under a later one is
-- superseded.
local RELEASED = 16384

local now, micros = clock.read()
local judged = clock.judged(now, ARGV[6])
local found = redis.call('HMGET', K.fence, 'e', 'h', 's', 'x', 'l', 'k', 'c', 'b', 'r', 'm', 'y')
local e, h, s, x, l, k, c = unpack(found)
local era = epochs.era(e, found[8], found[9], found[10])
local loss = losses.read()
local seen = ARGV[7]
if epochs.less(e or '0', seen) and losses.behind_by_right(e, seen, true, now) then
  seen = '0'
end
x = epochs.lease_end(x, l, found[11], now, ARGV[6], asks.older)
-- Nor does one live that was overtaken, which the store may have forgotten.
local lives = s and tonumber(x) > now and not losses.ended(loss, e) and not epochs.less(e, seen)
redis.call('HLEN', K.tickets)
redis.call('HLEN', K.older)
redis.call('HLEN', K.unfinished)
redis.call('HLEN', K.waiters)
redis.call('LLEN', KEYS[7] .. 'q:' .. resource)
audit.check()
local call = string.sub(mark, 1, 16)
local used_until = mark ~= '' and redis.call('ZSCORE', used_keys, call)

local function watch()
  if asks.watch then
    waiters.watch(gateway, micros, now)
  end
end

-- What was queued under a lease that was given back is in flight too: it is delivered before anything newer.
local function granted(epoch, holder, ttl_ms, expires, in_flight)
  if redis.call('HEXISTS', K.fence, 'g') == 1 then
    in_flight = in_flight + redis.call('LLEN', KEYS[7] .. 'q:' .. resource)
  end
  in_flight = in_flight + losses.in_flight(loss, asks.lasts, judged)
  if in_flight > 0 then
    watch()
  end
  return { 'granted', now, epoch, holder, ttl_ms, expires, in_flight }
end

-- How the lease ended that was there before: renewals are not told, so that its end is told here.
local function succeeds()
  if not s or h == '' then
    return ''
  end
  local left = tonumber(x) - now
  if lives then
    return string.format(', taken over from %s with %.1f s left', h, left / 1000)
  elseif x == '0' then
    return string.format(', %s had given it back', h)
  elseif left <= 0 then
    return string.format(', %.1f s after the lease of %s ran out', -left / 1000, h)
  end
  return string.format(', the lease of %s ended with what the store lost', h)
end

if losses.began_anew(ARGV[9]) then
  return epochs.refusal('began-anew', now)
end

if era ~= ARGV[10] then
  return epochs.refusal('other-era', now)
end

if x ~= found[4] then
  redis.call('HSET', K.fence, 'x', x, 'y', clock.text(now))
end

-- Its connection stood still, and nobody waits for the lease any more: it would evict who came meanwhile. Or the clock
-- has stepped; then the gateway knows by this, and asks again.
if now > tonumber(asks['until']) then
  return epochs.refusal('late', now)
end

-- A lease would write what was written before and is forgotten. Once the loss is told of, it may not.
local is_told = loss and loss.open
if not is_told and asks.known and epochs.less(e or '0', seen) then
  return epochs.refusal('store-regressed', now)
end

-- Its own repeat: the reply was lost, the lease is there.
if lives and s == secret then
  return granted(e, h, l, x, tickets.older_in_flight(resource, now, judged, e, false))
end

-- It may have been granted by this very call, and nothing is granted now.
if asks.looks then
  return epochs.refusal('lease-held', now)
end

-- A key is granted once: a secret whose epoch is dead must not come back with another, nor a late duplicate evict who
-- came after it.
if mark ~= '' then
  if lives and k and string.sub(k, 1, 16) == call then
    return epochs.refusal('key-in-use', now)
  end
  if asks.repeats or (used_until and tonumber(used_until) > now) then
    return epochs.refusal('key-used', now)
  end
end

if lives and not asks.takeover then
  watch()
  return epochs.refusal('lease-held', now)
end

if mark ~= '' and redis.call('ZCOUNT', used_keys, '(' .. clock.text(now), '+inf') >= REMEMBERED then
  local refused = epochs.refusal('keys-remembered', now)
  refused[5] = redis.call('ZRANGEBYSCORE', used_keys, '(' .. clock.text(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  return refused
end

local epoch = epochs.fresh(e, seen, now)
if not epoch then
  return epochs.refusal('epochs-exhausted', now)
end
if losses.ended(loss, epoch) then
  epoch = loss.floor
end

local in_flight = tickets.older_in_flight(resource, now, judged, e, true)
local expires = clock.text(now + ttl)
epochs.raise(epoch, 'h', ARGV[3], 's', secret, 'x', expires, 'l', ttl)
if asks.counts then
  redis.call('HSET', K.fence, 'c', asks.counts)
end
if x == '0' and redis.call('EXISTS', KEYS[7] .. 'q:' .. resource) == 1 then
  local released = redis.call('HGET', K.fence, 'g') or ''
  if #released < RELEASED then
    redis.call('HSET', K.fence, 'g', released .. e .. ' ')
  end
end
if mark ~= '' then
  redis.call('HSET', K.fence, 'k', mark)
  redis.call('ZREMRANGEBYSCORE', used_keys, '-inf', clock.text(now))
  redis.call('ZADD', used_keys, clock.text(now + REMEMBERED_MS), call)
  redis.call('PEXPIRE', used_keys, REMEMBERED_MS)
end
audit.note_epoch(resource, epoch, ARGV[3], 'granted', string.format('for %g s', ttl / 1000) .. succeeds(), gateway)
waiters.wake_all(resource)
local reply = granted(epoch, ARGV[3], ttl, expires, in_flight)
if lives and c then
  reply[8], reply[9], reply[10] = e, s, c
end
return reply
