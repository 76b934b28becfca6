-- Promise  G1 and G3: compares, records and admits one write in one step. No older epoch is admitted afterwards, and
--          nothing while an older one is in flight.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 ticket id, 3 gateway, 4 epoch, 5 holder ('' where none was named), 6 digest of the secret
--          ('' under header authority), 7 expected store ms, 8 upstream, 9 rule, 10 what rule and request ask for, in
--          words: ttl:MS, strict, serial, increasing:N or contiguous:N, counts, if-revision:N, queued, behind
-- Returns  {admitted, now, n}; {wait-older or wait-busy, now, ms until to ask again}; or a refusal {stale-epoch,
--          token-invalid, holder-mismatch, lease-expired, out-of-sequence or revision-mismatch, now, e, h, x, n}
-- Writes   f (e, h, w, q), t and d; o, i and s for overdue tickets; w for whoever waits

local resource, id, gateway, mine, holder, secret = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local asks = ' ' .. ARGV[10] .. ' '

local function asked(word)
  return string.find(asks, ' ' .. word .. ' ', 1, true) ~= nil
end

local function asked_number(word)
  return string.match(asks, ' ' .. word .. ':(%d+) ')
end

-- Read all that is written below: a key of the wrong type fails here, before the first write.
local now, micros = clock.read()
local judged = clock.judged(now, ARGV[7])
local e, h, w, q, n, s, x = unpack(redis.call('HMGET', K.fence, 'e', 'h', 'w', 'q', 'n', 's', 'x'))
local in_flight = redis.call('HLEN', K.tickets)
local older = redis.call('HLEN', K.older)
local waiting = redis.call('HLEN', K.waiters)
redis.call('ZCARD', K.deadlines)

local function refuse(word)
  if waiting > 0 and asked('queued') and not asked('behind') then
    waiters.leave(gateway)
    waiters.wake_next(resource, now, false)
  end
  return epochs.refusal(word, now)
end

local function wait(word, due)
  waiters.wait(gateway, micros, now)
  return { word, now, math.min(math.max(due, 10), 500) }
end

-- Its own repeat: the reply was lost, the ticket is there.
if in_flight + older > 0 and tickets.find(id) then
  return { 'admitted', now, n or '0' }
end

if e and epochs.less(mine, e) then
  return refuse('stale-epoch')
end

-- A lease authority has granted every epoch that it accepts, and keeps the newest's secret.
if secret ~= '' and (mine ~= e or s ~= secret) then
  return refuse('token-invalid')
end

-- Under header authority an epoch without a holder is one that an operator advanced to: the first who comes has it.
local named = secret == '' or holder ~= ''
if mine == e and h and named and h ~= holder then
  return refuse('holder-mismatch')
end

if secret ~= '' and tonumber(x) <= now then
  return refuse('lease-expired')
end

-- From here on it writes. The newer epoch is recorded also when its write is refused or has to wait.
if mine ~= e then
  epochs.raise(mine, 'h', holder)
  waiters.wake_all(resource)
  h, older, in_flight, w, q = holder, older + in_flight, 0, nil, nil
elseif not h then
  h = holder
  redis.call('HSET', K.fence, 'h', holder)
end

-- Overdue tickets end before the revision is compared: an unknown write counts as one.
local ended, due, ended_now, due_now = 0, 0, 0, 0
if older > 0 then
  ended, older, due = tickets.expire(K.older, resource, now, judged)
end
if in_flight > 0 and asked('serial') then
  ended_now, in_flight, due_now = tickets.expire(K.tickets, resource, now, judged)
end
if ended + ended_now > 0 then
  n = redis.call('HGET', K.fence, 'n')
  waiters.wake_next(resource, now, ended > 0 and older == 0)
end

if asked('strict') and w then
  return refuse('stale-epoch')
end

local increasing, contiguous = asked_number('increasing'), asked_number('contiguous')
local sequence = increasing or contiguous
if increasing and q and not epochs.less(q, increasing) or contiguous and contiguous ~= epochs.next(q or '0') then
  return refuse('out-of-sequence')
end

local based_on = asked_number('if%-revision')
if based_on and based_on ~= (n or '0') then
  return refuse('revision-mismatch')
end

if older > 0 then
  return wait('wait-older', due)
end

if asked('serial') and in_flight > 0 then
  return wait('wait-busy', due_now)
end

if asked('serial') and waiting > 0 and not waiters.none_before(gateway, asked('queued'), now) then
  return wait('wait-busy', 500)
end

tickets.issue(id, resource, {
  epoch = mine,
  deadline = clock.text(now + asked_number('ttl')),
  gateway = gateway,
  upstream = ARGV[8],
  rule = ARGV[9],
  holder = h,
  sequence = sequence,
  sequence_before = sequence and q or nil,
  gives_epoch_back = asked('strict') or nil,
  counts = asked('counts') or nil,
})
if sequence then
  redis.call('HSET', K.fence, 'q', sequence)
end
if asked('strict') then
  redis.call('HSET', K.fence, 'w', '1')
elseif w ~= '2' then
  redis.call('HSET', K.fence, 'w', '2')
end

if asked('behind') then
  waiters.to_the_end(gateway, micros, now)
  if not asked('serial') then
    waiters.wake_head(resource, now)
  end
elseif waiting > 0 then
  waiters.leave(gateway)
end
return { 'admitted', now, n or '0' }
