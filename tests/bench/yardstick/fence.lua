-- A fenced and deduplicated write by hand: admit, forward, settle. No waiting, no limits, no lost answers.

local store = require("store")

local Fence = {}
Fence.__index = Fence

local function text(path)
  local file = assert(io.open(path))
  local whole = file:read("*a")
  file:close()
  return whole
end

local fence = {}

function fence.new(directory, port)
  local self = { port = port, tickets = 0 }
  self.admit = text(directory .. "/admit.lua")
  self.settle = text(directory .. "/settle.lua")
  return setmetatable(self, Fence)
end

-- Once in the worker: sockets do not exist yet when the configuration is read.
function Fence:load()
  self.admit_digest = store.call(self.port, "SCRIPT", "LOAD", self.admit)
  self.settle_digest = store.call(self.port, "SCRIPT", "LOAD", self.settle)
end

function Fence:write()
  if not self.settle_digest then
    self:load()
  end
  local headers, path = ngx.req.get_headers(), ngx.var.uri
  self.tickets = self.tickets + 1
  local ticket = "t" .. self.tickets
  ngx.req.read_body()
  local body = ngx.req.get_body_data() or ""

  local record = "y:{" .. path .. "}:fence"
  local intent = "y:{" .. path .. "}:intent:" .. (headers["idempotency-key"] or ticket)
  local admitted = store.call(
    self.port, "EVALSHA", self.admit_digest, 2, record, intent,
    headers["fencing-token"], headers["fencing-holder"], ticket, ngx.md5(body), ngx.now()
  )
  if not admitted then
    return ngx.exit(503)
  end
  if admitted[1] ~= "admitted" then
    return ngx.exit(412)
  end

  local answer = ngx.location.capture("/forward" .. path, { method = ngx.HTTP_POST, body = body })
  store.call(self.port, "EVALSHA", self.settle_digest, 2, record, intent, ticket, answer.status, answer.body)
  ngx.status = answer.status
  ngx.header["Content-Type"] = answer.header["Content-Type"]
  ngx.print(answer.body)
end

return fence
