-- Promise  Shows how much of a rule's budgets is used, and by whom, at one instant of the store's clock.
-- KEYS     the beginning of all keys of the rule's budgets, as in parts/budget.lua, and one of them
-- ARGV     1 how many to pass over, of those that were used last, 2 how many to show
-- Returns  {shown, now, for each in turn: its key, how many actions count, what their amounts add up to as text, the ms
--          at which the oldest leaves, 0 without one}
-- Writes   b and v: what has left its window goes

local now = budgets.now()
local keys = redis.call('ZREVRANGE', K.used, ARGV[1], ARGV[1] + ARGV[2] - 1)
local shown = { 'shown', now }
for _, key in ipairs(keys) do
  local window = budgets.window(key)
  budgets.expire(key, window, now)
  local entries, sum = budgets.used(key)
  local oldest = redis.call('ZRANGE', K.entries .. key, 0, 0, 'WITHSCORES')
  shown[#shown + 1] = key
  shown[#shown + 1] = entries
  shown[#shown + 1] = budgets.text(sum)
  shown[#shown + 1] = oldest[2] and tonumber(oldest[2]) + window or 0
end
return shown
