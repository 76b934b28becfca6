-- Promise  Says what has become of a write, at one instant of the store's clock.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 the id of its record: the intent's, or its ticket's without one
-- Returns  {told, now, the record's state, in_flight for a ticket without a record, or unseen}
-- Writes   nothing

local now = clock.read()
local state = intents.state(ARGV[1])
if not state and tickets.find(ARGV[1]) then
  state = 'in_flight'
end
return { 'told', now, state or 'unseen' }
