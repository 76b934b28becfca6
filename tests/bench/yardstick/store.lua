-- A client of the store, as small as can be: RESP2 over pooled sockets, one command at a time on each.

local store = {}

local TIMEOUT_MS = 1000
local IDLE_MS = 60000
local POOLED = 512

local read

local readers = {
  ["+"] = function(_, rest) return rest end,
  ["-"] = function(_, rest) return nil, rest end,
  [":"] = function(_, rest) return tonumber(rest) end,
  ["$"] = function(socket, rest)
    local length = tonumber(rest)
    if length < 0 then
      return ngx.null
    end
    local data, why = socket:receive(length)
    socket:receive(#"\r\n")
    return data, why
  end,
  ["*"] = function(socket, rest)
    local items = {}
    for at = 1, tonumber(rest) do
      items[at] = read(socket)
    end
    return items
  end,
}

function read(socket)
  local line, why = socket:receive("*l")
  if not line then
    return nil, why
  end
  return readers[line:sub(1, 1)](socket, line:sub(2))
end

local function packed(...)
  local count = select("#", ...)
  local pieces = { "*", count, "\r\n" }
  local function add(piece)
    pieces[#pieces + 1] = piece
  end
  for at = 1, count do
    local word = tostring((select(at, ...)))
    add("$")
    add(#word)
    add("\r\n")
    add(word)
    add("\r\n")
  end
  return pieces
end

function store.call(port, ...)
  local socket = ngx.socket.tcp()
  socket:settimeout(TIMEOUT_MS)
  local connected, why = socket:connect("127.0.0.1", port)
  if not connected then
    return nil, why
  end
  socket:send(packed(...))
  local reply, fault = read(socket)
  socket:setkeepalive(IDLE_MS, POOLED)
  return reply, fault
end

return store
