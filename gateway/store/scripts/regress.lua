-- Promise  G6: that the store has lost acknowledged work is found out once, and everybody is told.
-- KEYS     the seven of the store's own shard, as in parts/epoch.lua; in a cluster of one shard of the server
-- ARGV     1 the incarnation that was found ('' for none), 2 the one that begins now, 3 why, 4 by whom it was found,
--          5 the incarnation that this one remembers, 6 the furthest that it expects the store's clock to be, in ms
-- Returns  {regressed, now, the floor}; {told, now} where another incarnation has begun meanwhile
-- Writes   store, a and n

local incarnation, why, by = ARGV[2], ARGV[3], ARGV[4]
local REMEMBERED = 512

local now = clock.read()
local store = K.shard .. 'store'
local current, floor, before = unpack(redis.call('HMGET', store, 'incarnation', 'floor', 'before'))
audit.check()

-- Its own repeat.
if current == incarnation then
  return { 'regressed', now, floor }
end

if (current or '') ~= ARGV[1] then
  return { 'told', now }
end

-- A grace ahead: the clock that granted what was lost may have been another one, and as far ahead of this one; or
-- further, where it ran ahead and was put right meanwhile. What was granted after a loss is not behind its floor.
floor = clock.text(math.max(now, ARGV[6], floor or 0) + GRACE_MS)
-- Whoever remembers one of these has been told with this. Few, for losses are rare; the newest first.
before = string.sub(ARGV[5] .. ' ' .. (current or '') .. ' ' .. (before or ''), 1, REMEMBERED)
redis.call('HSET', store, 'incarnation', incarnation, 'since', clock.text(now), 'floor', floor, 'before', before)
redis.call('HSET', store, 'why', why, 'by', by)
redis.call('HDEL', store, 'accepted', 'note', 'acceptor')
if not current then
  redis.call('HSET', store, 'began', clock.text(now))
end
audit.note({ id = incarnation, resource = '', ticket = '', epoch = floor, holder = '', upstream = '', rule = '' },
  '', 'regressed', why, by)
return { 'regressed', now, floor }
