-- Pauses of a resource: while one lasts, admission refuses every write of it.

local pauses = {}

-- The pause that lasts already stays: whoever began it has to end it.
function pauses.begin(resource, id, reason, by, now)
  if redis.call('HEXISTS', K.fence, 'p') == 1 then
    return
  end
  local pause = { id = id, resource = resource, reason = reason, by = by, created_at = clock.text(now) }
  redis.call('HSET', K.fence, 'p', cjson.encode(pause))
  redis.call('ZADD', K.paused, clock.text(now), resource)
end

function pauses.lift(resource)
  redis.call('HDEL', K.fence, 'p')
  redis.call('ZREM', K.paused, resource)
end
