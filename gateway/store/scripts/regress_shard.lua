-- Promise  G1, G4 and G6 after a loss: no lease from before it writes, no epoch from elsewhere, and no new intent is
--          made.
-- KEYS     as in parts/epoch.lua; only the last is used
-- ARGV     1 the floor, 2 ms for which a write may be in flight, as far as the process knows that tells of the loss,
--          3 when the loss was found
-- Returns  {regressed, now}
-- Writes   lost and lasts

local floor = ARGV[1]

local now = clock.read()
local loss = losses.read()
if not loss or epochs.less(loss.floor, floor) then
  losses.open(floor)
elseif loss.floor ~= floor then
  -- Another one was found since.
  return { 'regressed', now }
end
losses.may_last(floor, tonumber(ARGV[2]), tonumber(ARGV[3]))
return { 'regressed', now }
