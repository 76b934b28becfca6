-- Promise  A principal never has more entries of a kind than its quota allows, through however many gateways: all of
--          what is asked for is taken, or nothing.
-- KEYS     for each kind, the sorted set of the principal's entries by the ms at which they stop to count
-- ARGV     for each kind four: the limit, the new entry, for how many ms it counts, and for how many any of them may
-- Returns  {spent, now}; {quota-exceeded, now, number of the kind, ms until its next entry stops to count}
-- Writes   the sets; an entry that is there already, because the reply was lost, stays as it is

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

for at, key in ipairs(KEYS) do
  local limit, entry, most = tonumber(ARGV[4 * at - 3]), ARGV[4 * at - 2], now + ARGV[4 * at]
  -- The clock was set back since: they count no longer than one that is made now.
  for _, ahead in ipairs(redis.call('ZRANGE', key, string.format('(%.0f', most), '+inf', 'BYSCORE')) do
    redis.call('ZADD', key, string.format('%.0f', most), ahead)
  end
  local used = redis.call('ZCOUNT', key, string.format('(%.0f', now), '+inf')
  local score = redis.call('ZSCORE', key, entry)
  if used >= limit and not (score and tonumber(score) > now) then
    local first = redis.call('ZRANGE', key, string.format('(%.0f', now), '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
    return { 'quota-exceeded', now, at, first[2] - now }
  end
end

for at, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now))
  redis.call('ZADD', key, 'NX', string.format('%.0f', now + ARGV[4 * at - 1]), ARGV[4 * at - 2])
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  redis.call('PEXPIREAT', key, string.format('%.0f', last[2]))
end
return { 'spent', now }
