-- Gateways that wait for a resource, in order of arrival, and how they are woken. A gateway's own queue is its own.

local waiters = {}

-- A waiting gateway asks again at least every 500 ms; one that is silent for longer than this has lost its place.
local SILENT_MS = 1000

-- `seen`: when it last asked, which is not ahead of the clock, unless that was set back since.
local function is_silent(seen, now)
  return math.abs(now - seen) > SILENT_MS
end

-- The list outlives the last one who asked by this much: longer than a lease call may wait.
local KEEP_MS = 60000
-- Where a gateway listens; spelled as in keys.py.
local CHANNEL = 'fg:wake:'

local function put(field, arrival, now)
  redis.call('HSET', K.waiters, field, string.format('%.0f:%.0f', arrival, now))
  redis.call('PEXPIRE', K.waiters, KEEP_MS)
end

-- The live gateway that came first, or nil. `flat` is the list of waiters.
local function head(flat, now)
  local first, earliest
  for at = 1, #flat, 2 do
    local arrival, seen = string.match(flat[at + 1], '^(%d+):(%d+)$')
    arrival = tonumber(arrival)
    local waits = not string.find(flat[at], '/', 1, true) and not is_silent(seen, now)
    if waits and (not first or arrival < earliest) then
      first, earliest = flat[at], arrival
    end
  end
  return first
end

-- Whether nobody is before this gateway. A newcomer is behind its own gateway's waiters too.
function waiters.none_before(gateway, queued, now)
  local first = head(redis.call('HGETALL', K.waiters), now)
  return not first or (queued and first == gateway)
end

-- Wait, at the place that the gateway has, or at the end.
function waiters.wait(gateway, micros, now)
  local entry = redis.call('HGET', K.waiters, gateway)
  local arrival = entry and string.match(entry, '^(%d+):')
  local seen = entry and string.match(entry, ':(%d+)$')
  if not entry or is_silent(seen, now) then
    arrival = micros
  end
  put(gateway, arrival, now)
end

-- Wait at the end: one of the gateway's writes got through, others of it still wait.
function waiters.to_the_end(gateway, micros, now)
  put(gateway, micros, now)
end

-- A lease call waits. It is woken once and then has to watch again.
function waiters.watch(gateway, micros, now)
  put(gateway .. '/watch', micros, now)
end

function waiters.leave(gateway)
  redis.call('HDEL', K.waiters, gateway)
end

function waiters.wake_head(resource, now)
  local first = head(redis.call('HGETALL', K.waiters), now)
  if first then
    redis.call('PUBLISH', CHANNEL .. first, resource)
  end
end

function waiters.wake_all(resource)
  local woken = {}
  for _, field in ipairs(redis.call('HKEYS', K.waiters)) do
    local gateway = string.match(field, '^[^/]+')
    if field ~= gateway then
      redis.call('HDEL', K.waiters, field)
    end
    if not woken[gateway] then
      woken[gateway] = true
      redis.call('PUBLISH', CHANNEL .. gateway, resource)
    end
  end
end

-- After a ticket has ended, or a waiter has left. `drained`: the last older ticket ended just now.
function waiters.wake_next(resource, now, drained)
  if redis.call('EXISTS', K.waiters) == 0 then
    return
  end
  if drained then
    waiters.wake_all(resource)
  elseif redis.call('EXISTS', K.older) == 0 and redis.call('EXISTS', K.tickets) == 0 then
    waiters.wake_head(resource, now)
  end
end

-- A write has ended without being admitted: its gateway's place goes, unless another write of it waits there.
function waiters.give_up(resource, gateway, asks, now)
  if asks.queued and not asks.behind then
    waiters.leave(gateway)
    waiters.wake_next(resource, now, false)
  end
end
