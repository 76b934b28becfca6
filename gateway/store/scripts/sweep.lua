-- Promise  G5: a ticket whose gateway died ends as unknown, and whoever waited for it goes on.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 id of an overdue ticket, 3 expected store ms
-- Returns  {swept, now, how many tickets ended}
-- Writes   t, o, d, i, s, p, a, n, m and l; f (n, u); q, q:, r, k and f (g) of a delivery; i, s and c of what it was to
--          take back; w when it wakes

local resource, id = ARGV[1], ARGV[2]

local now = clock.read()
local judged = clock.judged(now, ARGV[3])
redis.call('HLEN', K.fence)
redis.call('HLEN', K.waiters)

-- An entry whose ticket a failover lost; nothing else would ever take it away.
if not tickets.find(id) then
  redis.call('ZREM', K.deadlines, id .. ' ' .. resource)
  return { 'swept', now, 0 }
end

local older, current = tickets.lapse_all(resource, now, judged)
return { 'swept', now, #older.overdue + #current.overdue }
