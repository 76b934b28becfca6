-- Records as gateways wrote them before the format of intent.lua: a list in MessagePack. Gateways of both kinds may run
-- at once, and a record is kept for as long as its rule says.

local former = {}

local FIELDS = {
  'v', 'state', 'ticket', 'attempts', 'epoch', 'holder', 'upstream', 'rule', 'resource', 'about', 'fingerprint',
  'created_at', 'updated_at', 'sent_at', 'reason', 'retain', 'query', 'asked', 'in_doubt', 'resolved_by', 'evidence',
  'answer', 'incidents', 'principal', 'native',
}

function former.record(id, packed)
  local values = cmsgpack.unpack(packed)
  local record = { id = id }
  for at, field in ipairs(FIELDS) do
    -- One that was written before there was this field.
    record[field] = values[at] or ''
  end
  record.v = nil
  return record
end

-- The state, of the beginning of a record.
function former.state(packed)
  -- Three bytes say how many fields there are; the first two are the version and the state.
  local _, _, state = cmsgpack.unpack_limit(packed, 2, 3)
  return state
end
