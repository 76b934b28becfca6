-- The least that admitting asks of the store. KEYS: the fence record, the intent's record. ARGV: epoch, holder, ticket,
-- fingerprint, instant.
local fence, intent = KEYS[1], KEYS[2]
local epoch, holder, ticket = ARGV[1], ARGV[2], ARGV[3]
local seen = redis.call('HMGET', fence, 'epoch', 'holder')
local highest, asked = tonumber(seen[1] or 0), tonumber(epoch)

if asked < highest or (asked == highest and seen[2] ~= holder) then
  return { 'refused', highest }
end

local known = redis.call('HGETALL', intent)
if #known > 0 then
  return { 'repeated', known }
end

if asked > highest then
  redis.call('HSET', fence, 'epoch', epoch, 'holder', holder)
end
redis.call('HSET', intent, 'state', 'in_flight', 'ticket', ticket, 'fingerprint', ARGV[4])
redis.call('PEXPIRE', intent, 60000)
redis.call('HSET', fence, ticket, ARGV[5])
return { 'admitted', highest }
