-- Promise  An operator ends a loss: writes go on, but for the leases from before it, which have ended for good.
-- KEYS     the seven of the store's own shard, as in parts/epoch.lua; in a cluster of one shard of the server
-- ARGV     1 the incarnation whose loss was accepted, 2 note, 3 by whom
-- Returns  {accepted, now}; {nothing, now} where nothing is lost, or that was accepted before
-- Writes   store, a and n

local incarnation, note, by = ARGV[1], ARGV[2], ARGV[3]

local now = clock.read()
local store = K.shard .. 'store'
local current, since, floor, accepted =
  unpack(redis.call('HMGET', store, 'incarnation', 'since', 'floor', 'accepted'))
audit.check()
if current ~= incarnation or not since or accepted then
  return { 'nothing', now }
end

redis.call('HSET', store, 'accepted', clock.text(now), 'note', note, 'acceptor', by)
audit.note({ id = incarnation, resource = '', ticket = '', epoch = floor, holder = '', upstream = '', rule = '' },
  'regressed', 'accepted', note, by)
return { 'accepted', now }
