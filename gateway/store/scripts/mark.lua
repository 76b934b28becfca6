-- Promise  Tells a store that has lost work from one that has not: each process of a gateway leaves a number that
--          rises, and whatever the store had acknowledged before it is there as long as the number is (the append-only
--          file and replication keep the order).
-- KEYS     the seven of the store's own shard, as in parts/epoch.lua; in a cluster of one shard of the server
-- ARGV     1 the process, 2 the incarnation and 3 the number that it remembers ('' and 0 for none), 4 the next number,
--          5 an incarnation, for a store that has none yet, 6 ms after which a mark is of no use, 7 how long writes
--          last, as far as this process knows: for each length MS:LEFT, both in ms (lasting.py)
-- Returns  {marked, now, the incarnation, the same of all processes}; {doubtful, now} where the store does not have
--          what is remembered
-- Writes   store, marks and lasting

local NEWS_MS = 250

local name, remembered = ARGV[1], ARGV[2]

local now = clock.read()
local store, marks = K.shard .. 'store', K.shard .. 'marks'
local incarnation = redis.call('HGET', store, 'incarnation')
local number = string.match(redis.call('HGET', marks, name) or '0', '^%d+')

if remembered ~= '' and (incarnation ~= remembered or epochs.less(number, ARGV[3])) then
  return { 'doubtful', now }
end

if not incarnation then
  incarnation = ARGV[5]
  redis.call('HSET', store, 'incarnation', incarnation, 'began', clock.text(now))
end
if remembered == '' then
  -- A process that begins clears away what others have left that are long gone, but not what a file may remember.
  local flat = redis.call('HGETALL', marks)
  for at = 1, #flat, 2 do
    local made = string.match(flat[at + 1], ' (%d+)$')
    local is_kept = string.sub(flat[at], 1, 5) == 'kept-'
    if not is_kept and (not made or now - made > tonumber(ARGV[6])) then
      redis.call('HDEL', marks, flat[at])
    end
  end
end
-- One that comes late does not put a later one back. The first of a memory is the first, whatever was there before.
if ARGV[3] == '0' or epochs.less(number, ARGV[4]) then
  redis.call('HSET', marks, name, ARGV[4] .. ' ' .. clock.text(now))
end

-- What one process was told by another comes back a little later each time: only what is news makes it longer. What a
-- clock that was set back leaves is as long as if it were told now.
local lasting, all = K.shard .. 'lasting', {}
for ms, left in string.gmatch(ARGV[7], '(%d+):(%d+)') do
  if now + left > tonumber(redis.call('ZSCORE', lasting, ms) or 0) + NEWS_MS then
    redis.call('ZADD', lasting, clock.text(now + left), ms)
  end
end
redis.call('ZREMRANGEBYSCORE', lasting, '-inf', clock.text(now))
local known = redis.call('ZRANGE', lasting, 0, -1, 'WITHSCORES')
for at = 1, #known, 2 do
  local left, most = known[at + 1] - now, known[at] + GRACE_MS
  if left > most then
    redis.call('ZADD', lasting, clock.text(now + most), known[at])
  end
  all[#all + 1] = known[at] .. ':' .. clock.text(math.min(left, most))
end
return { 'marked', now, incarnation, table.concat(all, ' ') }
