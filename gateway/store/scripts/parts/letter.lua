-- Dead letters: notifications that are not sent any more unless an operator says so. Only what sends and prunes needs
-- this part.

local letters = {}

local DEAD = 'l:dead'
-- Who was away for a month does not ask for each single one any more.
local LIVES_MS = 2592000000
-- Of a shard: as many as somebody may still go through, and a megabyte.
local LONGEST = 1000
-- The schedule ends after three days. What waits this long, no gateway sends: no policy names its upstream any more.
local UNSENT_MS = 604800000

function letters.check()
  redis.call('ZCARD', K.shard .. WAITING)
  redis.call('ZCARD', K.shard .. DEAD)
end

-- `member` is its entry among those that wait. The oldest dead ones make room.
function letters.bury(id, member, failure, now)
  redis.call('HSET', K.shard .. NOTIFICATION .. id, 'failure', failure)
  redis.call('PEXPIREAT', K.shard .. NOTIFICATION .. id, clock.text(now + LIVES_MS))
  redis.call('ZREM', K.shard .. WAITING, member)
  redis.call('ZADD', K.shard .. DEAD, clock.text(now), id)
  while redis.call('ZCARD', K.shard .. DEAD) > LONGEST do
    redis.call('DEL', K.shard .. NOTIFICATION .. redis.call('ZPOPMIN', K.shard .. DEAD)[1])
  end
end

-- Have it sent, from the first attempt on.
function letters.raise(id, upstream, now)
  redis.call('HSET', K.shard .. NOTIFICATION .. id, 'attempts', 0)
  redis.call('PERSIST', K.shard .. NOTIFICATION .. id)
  redis.call('ZREM', K.shard .. DEAD, id)
  redis.call('ZADD', K.shard .. WAITING, clock.text(now), id .. ' ' .. upstream)
end

-- The notification as a reply: names and values in turn.
function letters.shown(id)
  local flat = redis.call('HGETALL', K.shard .. NOTIFICATION .. id)
  flat[#flat + 1], flat[#flat + 2] = 'id', id
  return flat
end

-- Those whose time is over leave their lists.
function letters.prune(now)
  redis.call('ZREMRANGEBYSCORE', K.shard .. DEAD, '-inf', clock.text(now - LIVES_MS))
  local unsent = clock.text(now - UNSENT_MS)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', K.shard .. WAITING, '-inf', unsent, 'LIMIT', 0, 100)) do
    local id = string.match(member, '^%S+')
    if redis.call('HLEN', K.shard .. NOTIFICATION .. id) == 0 then
      redis.call('ZREM', K.shard .. WAITING, member)
    else
      letters.bury(id, member, 'no gateway sent it: no policy has `notify` for its upstream', now)
    end
  end
end
