-- Promise  What took effect stays taken, and what is reserved later for the same id is another action: its record is
--          kept for a time only, and after that the same key is a new one.
-- KEYS     the beginning of all keys of the rule's budgets, as in parts/budget.lua, and one of them
-- ARGV     1 id of the record
-- Returns  {confirmed, now}
-- Writes   r, p, b and v; nothing where nothing is reserved, or it was confirmed before

local id = ARGV[1]

local now = budgets.now()
local claims = budgets.claims(id)
redis.call('ZCARD', K.pending)
local attempts = {}
for attempt in pairs(claims) do
  attempts[#attempts + 1] = attempt
end
budgets.retire(id, claims, attempts, now)
redis.call('ZREM', K.pending, id)
return { 'confirmed', now }
