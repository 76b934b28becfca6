-- Kept requests: what was not forwarded and may still be needed. One hash each, which expires by itself, and for each
-- purpose a list by the microsecond in which they came: many may come in one millisecond, and the oldest go first.

local kept = {}

local RECORD = KEYS[7] .. 'r:'
local LIST = KEYS[7] .. 'k:'

-- The entries of a list, the oldest first: all, or those from `first` to `last`. Those whose record has expired leave
-- it; how many there were with them is told besides. Reads before it writes.
function kept.entries(purpose, first, last)
  local found, gone = {}, {}
  for _, id in ipairs(redis.call('ZRANGE', LIST .. purpose, first or 0, last or -1)) do
    local size, principal, resource = unpack(redis.call('HMGET', RECORD .. id, 'size', 'principal', 'resource'))
    if size then
      found[#found + 1] = { id = id, size = tonumber(size), principal = principal, resource = resource }
    else
      gone[#gone + 1] = id
    end
  end
  for _, id in ipairs(gone) do
    redis.call('ZREM', LIST .. purpose, id)
  end
  return found, #found + #gone
end

function kept.has(id)
  return redis.call('HLEN', RECORD .. id) > 0
end

-- What is told of it, as its gateway spelled it, in the form that the audit trail takes.
function kept.told(id)
  local about, holder = unpack(redis.call('HMGET', RECORD .. id, 'about', 'holder'))
  local told = cjson.decode(about)
  told.id, told.ticket, told.holder = id, '', holder
  return told
end

-- The first write may be refused for want of memory, so that nothing is half done.
function kept.put(purpose, id, now, micros, lives, ...)
  redis.call('HSET', RECORD .. id, 'for', purpose, 'at', clock.text(now), 'expires', clock.text(now + lives), ...)
  redis.call('PEXPIREAT', RECORD .. id, clock.text(now + lives))
  redis.call('ZADD', LIST .. purpose, clock.text(micros), id)
end

function kept.drop(purpose, id)
  redis.call('DEL', RECORD .. id)
  redis.call('ZREM', LIST .. purpose, id)
end

-- The oldest entry of the principal that has most of the bytes.
local function next_to_go(entries, bytes_of)
  local found
  for _, entry in ipairs(entries) do
    if not entry.goes and (not found or bytes_of[entry.principal] > bytes_of[found.principal]) then
      found = entry
    end
  end
  return found
end

-- Which entries go so that `new` fits, and how many bytes that frees; nil if it does not fit. `bounds`: `each`, of one
-- principal and resource; `shard`, of the whole list; `room`, the bytes by which more may be kept than now.
function kept.make_room(entries, new, bounds)
  local going, freed, alike, count = {}, 0, 0, #entries
  local bytes_of = { [new.principal] = new.size }
  local function go(entry)
    entry.goes = true
    going[#going + 1] = entry
    freed, count = freed + entry.size, count - 1
    bytes_of[entry.principal] = bytes_of[entry.principal] - entry.size
  end
  for _, entry in ipairs(entries) do
    bytes_of[entry.principal] = (bytes_of[entry.principal] or 0) + entry.size
  end
  for at = #entries, 1, -1 do
    local entry = entries[at]
    if entry.principal == new.principal and entry.resource == new.resource then
      alike = alike + 1
      if alike >= bounds.each then
        go(entry)
      end
    end
  end
  while count >= bounds.shard or new.size - freed > bounds.room do
    local entry = next_to_go(entries, bytes_of)
    if not entry then
      return nil
    end
    go(entry)
  end
  return going, freed
end
