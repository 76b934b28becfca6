-- Promise  What a shard has, at one instant: of two epochs that write to one resource both are seen, or neither.
-- KEYS     the resource's seven, as in parts/epoch.lua; any resource of the shard will do
-- ARGV     1 the lists to count, without the shard's tag, 2 those whose oldest entry's ms is told, 3 how many tickets
--          are looked at
-- Returns  {counted, now, the counts, the ms as texts ('' for an empty list), the queued intent that was asked for
--          first: its id and the microsecond in which that was (nothing if there is none), for each ticket in turn: its
--          entry in d, and the ticket as it is kept}
-- Writes   nothing

-- As many requests that are kept are looked at for one that is queued: others wait for approval, or have failed.
local LOOKED_AT = 32
local shard = KEYS[7]

local counts, oldest, tickets = {}, {}, {}
for list in string.gmatch(ARGV[1], '%S+') do
  counts[#counts + 1] = redis.call('ZCARD', shard .. list)
end

for list in string.gmatch(ARGV[2], '%S+') do
  oldest[#oldest + 1] = redis.call('ZRANGE', shard .. list, 0, 0, 'WITHSCORES')[2] or ''
end

-- An intent comes into `s:queued` anew after each delivery that failed; in `k:parked` it keeps its place.
local function first_queued()
  if redis.call('ZCARD', shard .. 's:queued') == 0 then
    return {}
  end
  local kept = redis.call('ZRANGE', shard .. 'k:parked', 0, LOOKED_AT - 1, 'WITHSCORES')
  for at = 1, #kept, 2 do
    if redis.call('ZSCORE', shard .. 's:queued', kept[at]) then
      return { kept[at], kept[at + 1] }
    end
  end
  local newest = redis.call('ZRANGE', shard .. 's:queued', 0, 0, 'WITHSCORES')
  return { newest[1], newest[2] .. '000' }
end

for _, entry in ipairs(redis.call('ZRANGE', KEYS[5], 0, ARGV[3] - 1)) do
  local id, resource = string.match(entry, '^(%S+) (.*)$')
  -- A failover may have lost the ticket and kept its entry.
  local kept = id
    and (redis.call('HGET', shard .. 't:' .. resource, id) or redis.call('HGET', shard .. 'o:' .. resource, id))
  if kept then
    tickets[#tickets + 1] = entry
    tickets[#tickets + 1] = kept
  end
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return { 'counted', now, counts, oldest, first_queued(), tickets }
