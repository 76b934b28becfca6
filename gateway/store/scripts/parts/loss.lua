-- Acknowledged work that the store has lost: which writes of a shard are refused since. One text in the shard, which is
-- there only where that has happened: the floor, and whether an operator has accepted the loss.

local losses = {}

local OPEN, ACCEPTED = ' open', ' accepted'

-- Of the loss with this floor: for how many ms what is forgotten may be in flight, and from when on; nil where nobody
-- has told. A former version does not, and leaves there what was told of another loss.
local function told_of(floor)
  local ms, begins, of = string.match(redis.call('GET', K.shard .. 'lasts') or '', '^(%d+) (%d+) (%d+)$')
  if of == floor then
    return tonumber(ms), begins
  end
  return nil
end

-- What is known of it, or nil. `floor`: every lease of an epoch below it has ended with the loss. `open`: nobody has
-- accepted it yet. What cannot be read stops everything.
function losses.read()
  local kept = redis.call('GET', K.lost)
  if not kept then
    return nil
  end
  local floor, state = string.match(kept, '^(%d+)( %l+)$')
  floor = floor or epochs.LAST
  local lasts, begins = told_of(floor)
  return { floor = floor, open = state ~= ACCEPTED, lasts = lasts or 0, begins = begins or floor }
end

function losses.open(floor)
  redis.call('SET', K.lost, floor .. OPEN)
end

-- How long what is forgotten may be in flight, by whoever knows it longest. `found_at`: when the loss was found. That
-- is a grace later for this, as for the floor, which is further ahead where the clock was set back.
function losses.may_last(floor, ms, found_at)
  local known = told_of(floor)
  local told = clock.text(ms) .. ' ' .. clock.text(found_at + GRACE_MS) .. ' ' .. floor
  if not known then
    redis.call('SET', K.shard .. 'lasts', told)
  elseif known < ms then
    redis.call('SET', K.shard .. 'lasts', told, 'KEEPTTL')
  end
end

-- The floor is needed for as long as a lease from before the loss may live, and an intent be kept.
function losses.accept(floor, ms)
  redis.call('SET', K.lost, floor .. ACCEPTED, 'PX', ms)
  redis.call('PEXPIRE', K.shard .. 'lasts', ms)
end

-- Whether the shard is not the one that the asking gateway has known: it was emptied, or is another store's. What it
-- had acknowledged is gone then, and nobody may have been told yet. `origin`: what the shard began with
-- (loss/origins.py), or '' where the gateway does not know it.
function losses.began_anew(origin)
  return origin ~= '' and redis.call('GET', K.shard .. 'origin') ~= origin
end

-- Whether a lease's epoch is from before the loss. Who has it now may not be who had it last.
function losses.ended(loss, epoch)
  return loss and epochs.less(epoch, loss.floor)
end

-- Whether something is from before the loss, so that what became of it since may be lost. `since`: ms as text.
function losses.may_have_forgotten(loss, since)
  return loss and epochs.less(since, loss.floor)
end

-- An operator may have records collected whose lease was granted so long ago (collect.lua). A lease lives a day at
-- most, unless it is renewed.
local COLLECTED_AFTER_MS = 24 * 3600 * 1000

function losses.collectable(epoch, now)
  return epochs.less(epoch, clock.text(now - COLLECTED_AFTER_MS))
end

-- Whether the loss is one whose leases may live.
function losses.is_near(loss, now)
  return loss and (loss.open or not losses.collectable(loss.floor, now))
end

-- Whether a record whose highest epoch is `e` (or nil) is by right behind an epoch that was `seen` in its era: an
-- operator had the record of an old lease (`leased`) collected. One that was reset never is.
function losses.behind_by_right(e, seen, leased, now)
  return not e and leased and losses.collectable(seen, now) and redis.call('HEXISTS', K.fence, 'r') == 0
end

-- Why a write of epoch `mine` may not be made, or nil. An epoch from elsewhere (without a secret) cannot be compared
-- with the floor: it waits until somebody has looked.
function losses.fault(loss, mine, secret)
  return loss and loss.open and (secret == '' or losses.ended(loss, mine)) and 'store-regressed' or nil
end

-- As `epochs.fault`, with what is known of a loss. `seen`: an epoch that the asking gateway has seen. A record that
-- does not know it is a former one, whatever the write's own epoch is: what was done under it may be forgotten as well.
-- `told`: `seen` is larger than `mine`, and its loss was told of; once that is accepted, `mine` is only an old one.
function losses.fault_of_all(loss, seen, fence, mine, holder, secret, now, told)
  if seen and epochs.less(fence.e or '0', seen) and not losses.behind_by_right(fence.e, seen, secret ~= '', now) then
    return told and not (loss and loss.open) and 'stale-epoch' or 'store-regressed'
  end
  local fault = losses.fault(loss, mine, secret) or epochs.fault(fence, mine, holder, secret, now)
  return fault or secret ~= '' and losses.ended(loss, mine) and 'lease-expired' or nil
end

-- When nothing is in flight any more of what the store has forgotten; `ttl`: how long a ticket lives, as far as the
-- asking gateway knows.
function losses.lands_at(loss, ttl)
  return loss.begins + math.max(ttl, loss.lasts)
end

-- Milliseconds until then. `judged`: the instant by which tickets are judged, too.
function losses.in_flight_ms(loss, ttl, judged)
  return loss and losses.lands_at(loss, ttl) - judged or 0
end

-- The same as a number of older writes: what is forgotten counts as one.
function losses.in_flight(loss, ttl, judged)
  return losses.in_flight_ms(loss, ttl, judged) > 0 and 1 or 0
end
