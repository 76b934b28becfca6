-- Promise  Tells a store that has lost work from one that has not: each process of a gateway leaves a number that
--          rises, and whatever the store had acknowledged before it is there as long as the number is (the append-only
--          file and replication keep the order).
-- KEYS     the seven of the store's own shard, as in parts/epoch.lua; in a cluster of one shard of the server
-- ARGV     1 the process, 2 the incarnation and 3 the number that it remembers ('' and 0 for none), 4 the next number,
--          5 an incarnation, for a store that has none yet, 6 ms after which a mark is of no use
-- Returns  {marked, now, the incarnation}; {doubtful, now} where the store does not have what is remembered
-- Writes   store and marks

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
redis.call('HSET', marks, name, ARGV[4] .. ' ' .. clock.text(now))
return { 'marked', now, incarnation }
