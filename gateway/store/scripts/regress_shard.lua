-- Promise  G1, G4 and G6 after a loss: no lease from before it writes, no epoch from elsewhere, and no new intent is
--          made.
-- KEYS     as in parts/epoch.lua; only the last is used
-- ARGV     1 the floor
-- Returns  {regressed, now}
-- Writes   lost

local floor = ARGV[1]

local now = clock.read()
local loss = losses.read()
if not loss or epochs.less(loss.floor, floor) then
  losses.open(floor)
end
return { 'regressed', now }
