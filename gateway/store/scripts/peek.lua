-- Promise  Says before a body is read what admission would refuse whatever is in it: moves and counts nothing.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 epoch, 2 holder ('' where none was named), 3 digest of the secret ('' under header authority), 4 an
--          epoch that this gateway has seen, if the record must have it or it is larger (else ''), 5 told if that is of
--          before a loss that was told of, 6 what the shard began with ('' where this gateway does not know it), 7 the
--          era in which it knows the resource's epochs
-- Returns  {passable, now}; or a refusal {began-anew, other-era, paused, store-regressed, stale-epoch, token-invalid,
--          holder-mismatch or lease-expired, now, e, h, x, n, '', ''}
-- Writes   nothing

local now = clock.read()
local found = redis.call('HMGET', K.fence, 'e', 'h', 's', 'x', 'p', 'b', 'r', 'm', 'l')
local ends = epochs.lease_end(found[4], found[9], nil, now)
local fence = { e = found[1], h = found[2], s = found[3], x = ends, p = found[5] }
local era = epochs.era(fence.e, found[6], found[7], found[8])
local loss = losses.read()
local seen, told = ARGV[4] ~= '' and ARGV[4] or nil, ARGV[5] == 'told'
local fault = losses.began_anew(ARGV[6]) and 'began-anew'
  or era ~= ARGV[7] and 'other-era'
  or fence.p and 'paused'
  or losses.fault_of_all(loss, seen, fence, ARGV[1], ARGV[2], ARGV[3], now, told)
if fault then
  return epochs.refusal(fault, now)
end
return { 'passable', now }
