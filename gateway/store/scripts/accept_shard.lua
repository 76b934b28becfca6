-- Promise  G4 once a loss is accepted: what waited in the store when work was lost may have been sent since, and is
--          unknown. Some at a time; the shard is open again when none is left.
-- KEYS     as in parts/epoch.lua; only the last is used
-- ARGV     1 the floor of the loss, 2 how many intents at most, 3 ms for which the floor is kept, 4 by whom
-- Returns  {more or accepted, now, how many became unknown}
-- Writes   lost; q, q:, e, r, k, s, i, p, a, n, m, l and f (g, u) of what waited

local floor, most, by = ARGV[1], tonumber(ARGV[2]), ARGV[4]

local now = clock.read()
local loss = losses.read()
intents.check('awaiting_approval', 'queued', 'unknown', 'applied')
local parked, gone = {}, {}
for _, state in ipairs({ 'awaiting_approval', 'queued' }) do
  local listed = K.shard .. 's:' .. state
  local found = redis.call('ZRANGE', listed, '-inf', floor, 'BYSCORE', 'LIMIT', 0, most - #parked - #gone)
  for _, id in ipairs(found) do
    local record = intents.read(id)
    if record and record.state == state then
      notifications.check(record)
      intents.check_parked(record.resource, id)
      redis.call('HLEN', K.shard .. 'f:' .. record.resource)
      parked[#parked + 1] = record
    else
      gone[#gone + 1] = { listed, id }
    end
  end
end

-- Entries that lead to nothing hide none behind them.
for _, entry in ipairs(gone) do
  redis.call('ZREM', unpack(entry))
end
for _, record in ipairs(parked) do
  intents.step(record, 'unknown', now, 'the store lost what became of it', by)
end
if #parked + #gone >= most then
  return { 'more', now, #parked }
end

if loss and loss.open and not epochs.less(floor, loss.floor) then
  losses.accept(loss.floor, ARGV[3])
end
return { 'accepted', now, #parked }
