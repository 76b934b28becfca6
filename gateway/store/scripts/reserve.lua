-- Promise  Within its window no more is ever taken of a budget than it allows, through however many gateways: all that
--          a write takes of its rule's budgets is reserved, or nothing.
-- KEYS     the beginning of all keys of the rule's budgets, as in parts/budget.lua, and one of them
-- ARGV     1 id of the record that will tell what became of it, 2 the attempt, 3 resource, 4 for how many ms it may be
--          admitted, 5 for how many ms no record proves that it was not, 6 in JSON for each budget: its key, its window
--          in ms, the amount, and count and total at most ('' for any), as text; 7 in-doubt where an attempt before
--          this one may have been executed, so that both are one action
-- Returns  {reserved, now}; {quota-exceeded, now, number of the budget, ms until there may be room}
-- Writes   r, p, s, b and v; an attempt that has its claim already, because the reply was lost, takes nothing more

local id, attempt = ARGV[1], ARGV[2]
local wanted = cjson.decode(ARGV[6])

local now = budgets.now()
local claims = budgets.claims(id)
redis.call('ZCARD', K.pending)
redis.call('ZCARD', K.used)
if ARGV[7] ~= 'in-doubt' then
  -- Their record may have been applied and be gone since, and this is another action of the same key.
  local old = {}
  for known, claim in pairs(claims) do
    if tonumber(claim.proves) <= now then
      old[#old + 1] = known
    end
  end
  budgets.retire(id, claims, old, now)
end
local before = budgets.taken(claims, now)
local claim = {
  at = budgets.text(now), ['until'] = budgets.text(now + ARGV[4]), proves = budgets.text(now + ARGV[5]),
  resource = ARGV[3], costs = {},
}
local longest = 0
for at, want in ipairs(wanted) do
  claim.costs[at] = { want[1], want[2], want[3] }
  longest = math.max(longest, tonumber(want[2]))
end
claims[attempt] = claims[attempt] or claim
local after = budgets.taken(claims, now)

for at, want in ipairs(wanted) do
  local key, window, count, total = want[1], tonumber(want[2]), tonumber(want[4]), tonumber(want[5])
  budgets.expire(key, window, now)
  local counts, one = before[key], after[key]
  local entries, sum = budgets.used(key)
  local too_many = count and not counts and entries + 1 - count or 0
  local more = one and one.amount - (counts and counts.amount or 0) or 0
  local too_much = total and more > 0 and sum + more - total or 0
  if too_many > 0 or too_much > 0 then
    return { 'quota-exceeded', now, at, budgets.room_in(key, window, now, too_many, too_much) }
  end
end

local ends = budgets.text(now + longest + ARGV[4])
redis.call('HSET', K.claims .. id, attempt, cjson.encode(claims[attempt]))
redis.call('PEXPIREAT', K.claims .. id, ends)
for key, one in pairs(after) do
  budgets.put(key, id, one)
end
for _, want in ipairs(wanted) do
  local over = budgets.text(now + want[2])
  redis.call('PEXPIREAT', K.entries .. want[1], over)
  redis.call('PEXPIREAT', K.amounts .. want[1], over)
  redis.call('ZADD', K.used, budgets.text(now), want[1])
end
redis.call('ZREMRANGEBYSCORE', K.used, '-inf', budgets.text(now - longest))
redis.call('PEXPIREAT', K.used, ends)
redis.call('ZADD', K.pending, 'LT', claim['until'], id)
redis.call('PEXPIREAT', K.pending, ends)
return { 'reserved', now }
