-- Promise  What was reserved for attempts that did nothing is free again; what another attempt of the same action has
--          claimed stays taken.
-- KEYS     the beginning of all keys of the rule's budgets, as in parts/budget.lua, and one of them
-- ARGV     1 id of the record, 2 and more: the attempts
-- Returns  {given-back, now}
-- Writes   r, p, b and v; nothing for an attempt that has no claim

local id = ARGV[1]

local now = budgets.now()
local claims = budgets.claims(id)
redis.call('ZCARD', K.pending)
local before = budgets.taken(claims, now)
for at = 2, #ARGV do
  claims[ARGV[at]] = nil
end
local after = budgets.taken(claims, now)
for key in pairs(before) do
  budgets.put(key, id, after[key])
end
redis.call('HDEL', K.claims .. id, unpack(ARGV, 2))
if next(claims) == nil then
  redis.call('ZREM', K.pending, id)
end
return { 'given-back', now }
