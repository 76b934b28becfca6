-- wrk's requests: `wrk … URL -- KIND PATH RESOURCES`. A keyed write has a key of its own each time, a write has none, a
-- read is a GET. Resources are taken in turn, far from each other, so that no two requests in flight share one.

local kind, path, resources, key
local count, keys = 0, 0
-- A prime: every resource is come by before one is come by again.
local STRIDE = 611953

local function fresh_key()
  local file = io.open("/dev/urandom", "rb")
  local words = {}
  for at, byte in ipairs({ file:read(8):byte(1, 8) }) do
    words[at] = string.format("%02x", byte)
  end
  file:close()
  return table.concat(words)
end

function init(arguments)
  kind, path, resources = arguments[1], arguments[2], tonumber(arguments[3])
  key = fresh_key()
  if kind ~= "read" then
    wrk.method = "POST"
    wrk.body = '{"title":"a report","text":"what a worker found out today"}'
    wrk.headers["Content-Type"] = "application/json"
    wrk.headers["Fencing-Token"] = "7"
    wrk.headers["Fencing-Holder"] = "agent-a"
  end
end

function request()
  count = (count + STRIDE) % resources
  if kind == "keyed" then
    keys = keys + 1
    wrk.headers["Idempotency-Key"] = key .. keys
  end
  return wrk.format(nil, path .. "/" .. count)
end
