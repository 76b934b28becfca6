-- The fence record of one resource: its keys, the words of a call, the exact order of epochs, raising the highest, the
-- store's clock.

-- Every script is given the keys of its resource in this order. The last is no key but the beginning of all keys of the
-- shard: which records a script needs is found only in the store. Those are spelled where they are used, because making
-- a text takes as long as a small command.
local K

-- The first step of every script. A function of a library is made once, and called with other keys each time.
local function begin(keys)
  K = {
    fence = keys[1],
    tickets = keys[2],
    older = keys[3],
    waiters = keys[4],
    deadlines = keys[5],
    audit = keys[6],
    shard = keys[7],
    number = keys[7] .. 'n',
    lost = keys[7] .. 'lost',
    unfinished = keys[7] .. 'u' .. string.sub(keys[1], #keys[7] + 2),
  }
end

-- How long past its deadline a ticket is left alone: its gateway stops at the deadline by its own clock, and the two
-- clocks, the last bytes on the wire and a scheduling gap have to fit in here.
local GRACE_MS = 1000

local words = {}

-- What a call asks for or tells, in words: `serial ttl:30000` is { serial = '', ttl = '30000' }.
function words.read(text)
  local found = {}
  for word, value in string.gmatch(text, '([^ :]+):?(%S*)') do
    found[word] = value
  end
  return found
end

local clock = {}

-- Milliseconds and microseconds since 1970; both stay below 2^53.
function clock.read()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000), time[1] * 1000000 + time[2]
end

-- The instant by which tickets are judged. `expected` is what the asking gateway thinks that the store's clock says: a
-- clock that jumped forward does not end the tickets of gateways that are alive.
function clock.judged(now, expected)
  return math.min(now, tonumber(expected) + GRACE_MS)
end

function clock.text(ms)
  return string.format('%.0f', ms)
end

local epochs = { LAST = '18446744073709551615' }

-- Decimal text without leading zeros: Lua's numbers are doubles and lose digits above 2^53.
function epochs.less(a, b)
  if #a ~= #b then
    return #a < #b
  end
  return a < b
end

function epochs.larger(a, b)
  if epochs.less(a, b) then
    return b
  end
  return a
end

-- The next number, or nil after the last.
function epochs.next(a)
  if a == epochs.LAST then
    return nil
  end
  local head, digit, nines = string.match(a, '^(%d-)([0-8]?)(9*)$')
  if digit == '' then
    digit = '0'
  end
  return head .. string.format('%d', digit + 1) .. string.rep('0', #nines)
end

-- The epoch of a grant or an advance, or nil when there is none left: larger than the highest and than what the asking
-- gateway has seen, and not behind the clock, so that it goes on growing after a restore that lost writes.
function epochs.fresh(highest, seen, now)
  local following = epochs.next(epochs.larger(highest or '0', seen))
  return following and epochs.larger(following, clock.text(now))
end

-- Make `to` the highest epoch. What belonged to the one before goes, its tickets become older ones, the count of
-- revisions stays. The first write may be refused for want of memory, so that nothing is half done.
function epochs.raise(to, ...)
  redis.call('HSET', K.fence, 'v', '1', 'e', to, unpack(epochs.of_its_era(to)))
  redis.call('HDEL', K.fence, 'h', 'w', 'q', 'a', 's', 'k', 'x', 'l', 'y', 'c')
  if ... then
    redis.call('HSET', K.fence, ...)
  end
  -- Nothing is admitted while older tickets are in flight: where there are current ones, there are no older ones.
  if redis.call('EXISTS', K.tickets) == 1 then
    redis.call('RENAME', K.tickets, K.older)
  end
end

-- When a lease ends, as text. It lives for its term `l`: one that was made ahead of the clock is from before that was
-- set back, and ends so much sooner, or after its term from now on at the latest. `expected`, `older`: what the asking
-- gateway thinks that the clock says, and what it knows of its last step (MS/FROM/TO: what was made in between is so
-- many ms older than it looks); nil where nobody asks. `right`: when its end was put right, which is done once.
function epochs.lease_end(x, l, right, now, expected, older)
  local made = x and l and x - l
  if not made then
    return x
  end
  local by, from, to = string.match(older or '', '^(%d+)/(%d+)/(%d+)$')
  local is_older = by and tonumber(from) <= made and made < tonumber(to) and not (right and made < tonumber(right))
  if made <= now + GRACE_MS and not is_older then
    return x
  end
  -- Of a step that the gateway hears of only now it does not know yet, and tells of the one before.
  local unheard = math.max(0, (expected or 0) - now)
  local set_back = unheard + ((is_older or unheard <= GRACE_MS) and by or 0)
  return clock.text(math.max(1, math.min(x - set_back, now + l)))
end

-- The same, and it stays so whoever asks next.
function epochs.end_lease(x, l, right, now, expected, older)
  local ends = epochs.lease_end(x, l, right, now, expected, older)
  if ends ~= x then
    redis.call('HSET', K.fence, 'x', ends, 'y', clock.text(now))
  end
  return ends
end

-- Why a write of epoch `mine` may not be made, or nil. `named`: whether the caller named a holder.
function epochs.fault(fence, mine, holder, secret, now)
  local e, h = fence.e, fence.h
  if e and epochs.less(mine, e) then
    return 'stale-epoch'
  end
  -- A lease authority has granted every epoch that it accepts, and keeps the newest's secret.
  if secret ~= '' and (mine ~= e or fence.s ~= secret) then
    return 'token-invalid'
  end
  -- Under header authority an epoch without a holder is one that an operator advanced to: the first who comes has it.
  local named = secret == '' or holder ~= ''
  if mine == e and h and named and h ~= holder then
    return 'holder-mismatch'
  end
  if secret ~= '' and tonumber(fence.x) <= now then
    return 'lease-expired'
  end
  return nil
end

-- In which era a resource's epochs are: each time that an operator forgets them (reset.lua) another one begins, larger
-- than all before it, and epochs of two eras are not compared. Of the fence: '0' where nothing was ever forgotten. A
-- former version has kept `r` alone, and not when; one that runs beside this begins no era either: where the epoch is
-- behind the largest of its era, it has forgotten that one.
function epochs.era(e, b, r, m)
  local era = b or r and '1' or '0'
  if m and (not e or epochs.less(e, m)) then
    return epochs.next(era)
  end
  return era
end

-- What the fence has to keep beside the epoch `to`, in fields and values: the largest of its era, and which era that
-- is, if only `era` above tells. Nothing where no epoch was ever forgotten, as with nearly all resources.
function epochs.of_its_era(to)
  local e, b, r, m = unpack(redis.call('HMGET', K.fence, 'e', 'b', 'r', 'm'))
  if not r or m == to then
    return {}
  end
  local era = epochs.era(e, b, r, m)
  if era == epochs.era(to, b, r) then
    return { 'm', to }
  end
  return { 'm', to, 'b', era }
end

-- What every refusal tells: the highest epoch, its holder, its lease's end and the count of revisions, where they are,
-- and the intent's id and state where its caller may know them. Where an operator has forgotten epochs, at the end the
-- era.
function epochs.refusal(word, now, intent, state)
  local e, h, x, n, b, r, m = unpack(redis.call('HMGET', K.fence, 'e', 'h', 'x', 'n', 'b', 'r', 'm'))
  local era = epochs.era(e, b, r, m)
  return { word, now, e or '', h or '', x or '', n or '0', intent or '', state or '', era ~= '0' and era or nil }
end
