-- One step of the explorer: the store as it was, one script, the store as it is then. What stands before this is the
-- product's own; `verbs` are its scripts.

-- What nobody decides by: the trail and its number, what people are shown, who waits in which order, notifications.
local LEFT_OUT = { '^fg:{%x+}:[anpm]$', '^fg:{%x+}:s:', '^fg:{%x+}:w:', '^fg:{%x+}:[ml]:', '^fg:[^{]' }

-- No other instant is so far back from a whole step of time (world.py).
local ENDED_MS = 50

local function is_left_out(key)
  for _, pattern in ipairs(LEFT_OUT) do
    if string.find(key, pattern) then
      return true
    end
  end
  return false
end

-- `flat` has, from `at` on, each key with its type, how many words follow, and these.
local function put(flat, at)
  redis.call('FLUSHDB')
  while flat[at] do
    local key, kind, count = flat[at], flat[at + 1], tonumber(flat[at + 2])
    local content = { unpack(flat, at + 3, at + 2 + count) }
    if kind == 'hash' then
      redis.call('HSET', key, unpack(content))
    elseif kind == 'zset' then
      redis.call('ZADD', key, unpack(content))
    else
      redis.call('SET', key, content[1])
    end
    at = at + 3 + count
  end
end

local function sorted_hash(key)
  local fields = redis.call('HKEYS', key)
  table.sort(fields)
  local flat = {}
  for _, field in ipairs(fields) do
    flat[#flat + 1] = field
    flat[#flat + 1] = redis.call('HGET', key, field)
  end
  return flat
end

local function scored(key)
  local flat = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for at = 1, #flat, 2 do
    flat[at], flat[at + 1] = clock.text(tonumber(flat[at + 1])), flat[at]
  end
  return flat
end

-- When a lease ended is of no concern, once it has.
local function lease_ended(flat)
  for at = 1, #flat, 2 do
    if flat[at] == 'x' and flat[at + 1] ~= '0' then
      flat[at + 1] = clock.text(math.max(tonumber(flat[at + 1]), clock.read() - ENDED_MS))
    end
  end
  return flat
end

-- No decision depends on when a record was made or changed, while it is kept: it is always now.
local function ageless(packed)
  local now = struct.pack('>I6', (clock.read()))
  return string.sub(packed, 1, #MARK) .. now .. now .. now .. string.sub(packed, #MARK + 19)
end

local function content_of(key, kind)
  if kind == 'hash' then
    return lease_ended(sorted_hash(key))
  end
  if kind == 'zset' then
    return scored(key)
  end
  local text = redis.call('GET', key)
  return { string.find(key, '^fg:{%x+}:i:') and ageless(text) or text }
end

local function taken()
  local keys, found = redis.call('KEYS', '*'), {}
  table.sort(keys)
  for _, key in ipairs(keys) do
    if not is_left_out(key) then
      local kind = redis.call('TYPE', key).ok
      found[#found + 1] = { key, kind, content_of(key, kind) }
    end
  end
  return found
end

redis.register_function('explore', function(keys, argv)
  local count = tonumber(argv[2])
  put(argv, 3 + count)
  local reply = verbs[argv[1]](keys, { unpack(argv, 3, 2 + count) })
  return { reply, taken() }
end)
