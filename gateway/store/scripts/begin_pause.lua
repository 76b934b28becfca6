-- Promise  An operator stops all writes of an upstream, a rule, a tenant or a holder, or all there are: every gateway
--          is told at once.
-- KEYS     the seven of the pauses' shard, as in parts/epoch.lua
-- ARGV     1 id, 2 kind, 3 name, 4 a rule's upstream ('' for any), 5 reason, 6 by whom, 7 the reason of the event,
--          8 how many pauses there may be, 9 when the call has been given up, as in grant.lua
-- Returns  {paused, now, id, the pause as JSON}, of the one that lasts already if there is one of this scope; or
--          {full or late, now}
-- Writes   pauses, a and n

local key = KEYS[7] .. 'pauses'
local pause = { id = ARGV[1], kind = ARGV[2], name = ARGV[3], upstream = ARGV[4], reason = ARGV[5], by = ARGV[6] }

local now = clock.read()
audit.check()
local lasting = redis.call('HVALS', key)

local same = pauses.by_scope(lasting)[pauses.scope(pause)]
if same then
  return { 'paused', now, cjson.decode(same).id, same }
end

-- Its connection stood still, and somebody may have ended this very pause meanwhile, or its repeat.
if now > tonumber(ARGV[9]) then
  return { 'late', now }
end

if #lasting >= tonumber(ARGV[8]) then
  return { 'full', now }
end

pause.created_at = clock.text(now)
local packed = cjson.encode(pause)
redis.call('HSET', key, pause.id, packed)
pauses.note_wide(pause, '', 'paused', ARGV[7], pause.by)
return { 'paused', now, pause.id, packed }
