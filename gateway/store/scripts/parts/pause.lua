-- Pauses of a resource: while one lasts, admission refuses every write of it. And the events of all pauses.

local pauses = {}

-- A pause begins or ends; `of` is its id and, as far as it has them, its resource, holder, upstream and rule.
function pauses.note(of, from, to, reason, by)
  audit.note({
    id = of.id,
    resource = of.resource or '',
    ticket = '',
    epoch = '',
    holder = of.holder or '',
    upstream = of.upstream or '',
    rule = of.rule or '',
  }, from, to, reason, by)
end

-- A wide pause begins or ends, and every gateway is told at once, on a channel that is spelled as in keys.py.
function pauses.note_wide(pause, from, to, reason, by)
  local of = { id = pause.id, upstream = pause.upstream }
  of[pause.kind] = pause.name
  pauses.note(of, from, to, reason, by)
  redis.call('PUBLISH', 'fg:pauses', pause.id)
end

-- What a wide pause stops.
function pauses.scope(pause)
  return tostring(pause.kind) .. '\n' .. tostring(pause.name) .. '\n' .. tostring(pause.upstream)
end

-- The wide pauses in force, as they are kept, by what they stop. One that cannot be read stops everything already, and
-- is nobody's repeat.
function pauses.by_scope(lasting)
  local found = {}
  for _, text in ipairs(lasting) do
    local is_json, one = pcall(cjson.decode, text)
    if is_json and type(one) == 'table' then
      found[pauses.scope(one)] = text
    end
  end
  return found
end

-- The pause that lasts already stays: whoever began it has to end it.
function pauses.begin(resource, id, reason, by, now)
  if redis.call('HEXISTS', K.fence, 'p') == 1 then
    return
  end
  local pause = { id = id, resource = resource, reason = reason, by = by, created_at = clock.text(now) }
  redis.call('HSET', K.fence, 'p', cjson.encode(pause))
  redis.call('ZADD', K.shard .. 's:paused', clock.text(now), resource)
  pauses.note(pause, '', 'paused', reason, by)
  -- Sessions are cut by it.
  waiters.wake_all(resource)
end

function pauses.lift(pause, by)
  redis.call('HDEL', K.fence, 'p')
  redis.call('ZREM', K.shard .. 's:paused', pause.resource)
  pauses.note(pause, 'paused', 'resumed', pause.reason, by)
end
