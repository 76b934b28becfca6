-- Promise  G2: from the moment of the grant every older epoch is refused, even if the new one has written nothing.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 gateway, 3 holder, 4 digest of the secret, 5 ttl in ms, 6 expected store ms, 7 the largest
--          epoch that this gateway has seen for the resource, 8 words: takeover, watch
-- Returns  {granted, now, e, h, l, x, older writes in flight}; or a refusal {lease-held or epochs-exhausted, now, e, h,
--          x, n}
-- Writes   f (e, h, s, x, l, g), t and o; t, o, d, i, s, p, a and n for overdue tickets; w for a watcher

local resource, gateway, secret, ttl = ARGV[1], ARGV[2], ARGV[4], ARGV[5]
local asks = ' ' .. ARGV[8] .. ' '

local now, micros = clock.read()
local judged = clock.judged(now, ARGV[6])
local e, h, s, x, l = unpack(redis.call('HMGET', K.fence, 'e', 'h', 's', 'x', 'l'))
local lives = s and tonumber(x) > now
redis.call('HLEN', K.tickets)
redis.call('HLEN', K.older)
redis.call('HLEN', K.waiters)
redis.call('LLEN', KEYS[7] .. 'q:' .. resource)

local function watch()
  if string.find(asks, ' watch ', 1, true) then
    waiters.watch(gateway, micros, now)
  end
end

-- What was queued under a lease that was given back is in flight too: it is delivered before anything newer.
local function granted(epoch, holder, ttl_ms, expires, in_flight)
  if redis.call('HEXISTS', K.fence, 'g') == 1 then
    in_flight = in_flight + redis.call('LLEN', KEYS[7] .. 'q:' .. resource)
  end
  if in_flight > 0 then
    watch()
  end
  return { 'granted', now, epoch, holder, ttl_ms, expires, in_flight }
end

-- Its own repeat: the reply was lost, the lease is there.
if lives and s == secret then
  return granted(e, h, l, x, tickets.older_in_flight(resource, now, judged, false))
end

if lives and not string.find(asks, ' takeover ', 1, true) then
  watch()
  return epochs.refusal('lease-held', now)
end

local epoch = epochs.fresh(e, ARGV[7], now)
if not epoch then
  return epochs.refusal('epochs-exhausted', now)
end

local in_flight = tickets.older_in_flight(resource, now, judged, true)
local expires = clock.text(now + ttl)
epochs.raise(epoch, 'h', ARGV[3], 's', secret, 'x', expires, 'l', ttl)
if x == '0' and redis.call('EXISTS', KEYS[7] .. 'q:' .. resource) == 1 then
  redis.call('HSET', K.fence, 'g', (redis.call('HGET', K.fence, 'g') or '') .. e .. ' ')
end
waiters.wake_all(resource)
return granted(epoch, ARGV[3], ttl, expires, in_flight)
