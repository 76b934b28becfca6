-- Promise  What came too late is kept for a person to look at, within bounds; it changes nothing of its resource.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 gateway, 3 id, 4 what is told of it, as JSON, 5 the request, packed, 6 bounds in words:
--          lives:MS, each:N (of one principal and resource), shard:N, room:BYTES (by which more may be kept than now)
-- Returns  {kept, now, by how many bytes more is kept than before}; or {no-room, now, 0}
-- Writes   r, k, a and n

local resource, gateway, id, request = ARGV[1], ARGV[2], ARGV[3], ARGV[5]
local about, asks = cjson.decode(ARGV[4]), words.read(ARGV[6])

local now, micros = clock.read()
local e, h = unpack(redis.call('HMGET', K.fence, 'e', 'h'))
audit.check()

-- Its own repeat, or its holder's: the first stays.
if kept.has(id) then
  return { 'kept', now, 0 }
end

local entries = kept.entries('quarantine')
local new = { size = #ARGV[4] + #request, principal = about.principal, resource = resource }
local bounds = { each = tonumber(asks.each), shard = tonumber(asks.shard), room = tonumber(asks.room) }
local going, freed = kept.make_room(entries, new, bounds)
if not going then
  return { 'no-room', now, 0 }
end

-- Who writes with a lease's secret need not name itself: of the newest epoch the holder is known.
local holder = about.holder
if holder == '' and e == about.epoch then
  holder = h or ''
end
kept.put(
  'quarantine', id, now, micros, tonumber(asks.lives),
  'about', ARGV[4], 'holder', holder, 'request', request,
  'size', new.size, 'principal', new.principal, 'resource', resource
)
audit.note(kept.told(id), '', 'quarantined', about.decision, gateway)
for _, entry in ipairs(going) do
  local told = kept.told(entry.id)
  kept.drop('quarantine', entry.id)
  audit.note(told, 'quarantined', 'dropped', 'its room was needed', gateway)
end
return { 'kept', now, new.size - freed }
