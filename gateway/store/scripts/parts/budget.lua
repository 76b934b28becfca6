-- The budgets of one rule: what is reserved of them, by which attempt. All keys of a rule's budgets have one tag, so
-- that one script reaches them in a cluster: `s` the budgets, by the ms at which they were last used; `b:` the actions
-- that count in a budget, by the ms from which they do; `v:` their amounts, and the sum of these; `r:` the claims of
-- one action; `p` the actions whose fate is not known yet, by the ms at which it should be asked.

local K

-- The first step of every script.
local function begin(keys)
  local tag = keys[1]
  K = { used = tag .. 's', entries = tag .. 'b:', amounts = tag .. 'v:', claims = tag .. 'r:', pending = tag .. 'p' }
end

-- No action's id is spelled like this.
local SUM = '='
-- Looked at in one step, so that no call takes long where much is counted.
local AT_ONCE = 1000

local budgets = {}

function budgets.now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

function budgets.text(number)
  return string.format('%.0f', number)
end

-- A budget's key is JSON: its name, which has the window, and who uses it.
function budgets.window(key)
  return tonumber(string.match(cjson.decode(key)[1], '^%S+ (%d+)'))
end

-- By attempt. `costs` has for each budget its key, its window and the amount, in decimal text: cjson rounds numbers.
function budgets.claims(id)
  local claims, flat = {}, redis.call('HGETALL', K.claims .. id)
  for at = 1, #flat, 2 do
    claims[flat[at]] = cjson.decode(flat[at + 1])
  end
  return claims
end

-- What an action takes of each budget that it still counts in. It is done once, however many attempts have claimed for
-- it: the most that any of them claims, from the last of them on.
function budgets.taken(claims, now)
  local taken = {}
  for _, claim in pairs(claims) do
    local since = tonumber(claim.at)
    for _, cost in ipairs(claim.costs) do
      local key, window, amount = cost[1], tonumber(cost[2]), tonumber(cost[3])
      if since + window > now then
        local one = taken[key] or { at = 0, amount = 0 }
        one.at, one.amount = math.max(one.at, since), math.max(one.amount, amount)
        taken[key] = one
      end
    end
  end
  return taken
end

-- Have an action count in a budget as `one` says; nil: not any more.
function budgets.put(key, id, one)
  local before = tonumber(redis.call('HGET', K.amounts .. key, id) or 0)
  local after = one and one.amount or 0
  if after ~= before then
    redis.call('HINCRBY', K.amounts .. key, SUM, budgets.text(after - before))
    redis.call('HSET', K.amounts .. key, id, budgets.text(after))
  end
  if after == 0 then
    redis.call('HDEL', K.amounts .. key, id)
  end
  if one then
    redis.call('ZADD', K.entries .. key, budgets.text(one.at), id)
  else
    redis.call('ZREM', K.entries .. key, id)
  end
end

-- These attempts are done with: what they took stays taken, under a name that nobody claims for again. Changes
-- `claims`.
function budgets.retire(id, claims, attempts, now)
  if #attempts == 0 then
    return
  end
  local before, gone = budgets.taken(claims, now), {}
  for _, attempt in ipairs(attempts) do
    gone[attempt], claims[attempt] = claims[attempt], nil
  end
  local left = budgets.taken(claims, now)
  for key, one in pairs(budgets.taken(gone, now)) do
    budgets.put(key, id .. ' ' .. attempts[1], one)
  end
  for key in pairs(before) do
    budgets.put(key, id, left[key])
  end
  redis.call('HDEL', K.claims .. id, unpack(attempts))
end

-- These have left the window, and count no longer.
local function forget(key, gone)
  local amount = 0
  for _, one in ipairs(redis.call('HMGET', K.amounts .. key, unpack(gone))) do
    amount = amount + tonumber(one or 0)
  end
  if amount ~= 0 then
    redis.call('HINCRBY', K.amounts .. key, SUM, budgets.text(-amount))
  end
  redis.call('HDEL', K.amounts .. key, unpack(gone))
  redis.call('ZREM', K.entries .. key, unpack(gone))
end

-- Each entry leaves once, so that this is little on an average; after an hour in which nobody wrote, the entries of an
-- hour may leave at once, and are taken off a thousand together.
function budgets.expire(key, window, now)
  local until_ms = budgets.text(now - window)
  repeat
    local gone = redis.call('ZRANGE', K.entries .. key, '-inf', until_ms, 'BYSCORE', 'LIMIT', 0, AT_ONCE)
    if #gone > 0 then
      forget(key, gone)
    end
  until #gone < AT_ONCE
end

-- How many actions count, and what their amounts add up to.
function budgets.used(key)
  return redis.call('ZCARD', K.entries .. key), tonumber(redis.call('HGET', K.amounts .. key, SUM) or 0)
end

-- Milliseconds until so many of the oldest have left, with so much between them; of many, until some have.
function budgets.room_in(key, window, now, entries, amount)
  local oldest = redis.call('ZRANGE', K.entries .. key, 0, AT_ONCE - 1, 'WITHSCORES')
  local last = now
  for at = 1, #oldest, 2 do
    if entries <= 0 and amount <= 0 then
      break
    end
    entries, last = entries - 1, tonumber(oldest[at + 1])
    amount = amount - tonumber(redis.call('HGET', K.amounts .. key, oldest[at]) or 0)
  end
  return last + window - now
end
