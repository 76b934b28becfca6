-- Notifications: what people are to be told of a write. Each is made in the script that makes the step, so that none is
-- lost; a gateway sends it later. A hash each, and a list of those that wait, by the millisecond of the next attempt.

local notifications = {}

local NOTIFICATION = 'm:'
local WAITING = 'l:waiting'

-- Before the first write of a script, of each record that it may step.
function notifications.check(record)
  if record and record.notify ~= '' then
    redis.call('ZCARD', K.shard .. WAITING)
  end
end

-- `event` is a state or `incident`, `incident` the kind of one; nobody is told of what the policy does not name. `step`
-- is the id of the step's entry in the trail: no other has it, and it names the notification, whoever sends it.
function notifications.tell(record, event, incident, reason, step)
  if record.notify == '' or not string.find(',' .. record.notify .. ',', ',' .. event .. ',', 1, true) then
    return
  end
  local id, at = string.sub(K.shard, 5, 7) .. step, string.match(step, '^%d+')
  redis.call(
    'HSET', K.shard .. NOTIFICATION .. id, 'event', event, 'incident', incident, 'at', at, 'intent', record.id,
    'state', record.state, 'upstream', record.upstream, 'rule', record.rule, 'resource', record.resource,
    'epoch', record.epoch, 'holder', record.holder, 'reason', reason, 'attempts', 0, 'failure', '',
    'digest', words.read(record.parking or '').digest or ''
  )
  redis.call('ZADD', K.shard .. WAITING, at, id .. ' ' .. record.upstream)
end
