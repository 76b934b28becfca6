-- Promise  What is kept is counted as it is: an entry whose record has expired leaves its list. Some at a time: agents
--          may have a hundred thousand requests waiting in one shard.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the purpose for which requests are kept, 2 how many to pass over, of the oldest, 3 how many to count
-- Returns  {recounted or, where there may be more of them, more; now, how many were counted, each principal ('' for
--          nobody in particular) and how many bytes of it these are, in turn}
-- Writes   k

local first, most = tonumber(ARGV[2]), tonumber(ARGV[3])

local now = clock.read()
local entries, looked_at = kept.entries(ARGV[1], first, first + most - 1)
local bytes, answer = {}, { looked_at < most and 'recounted' or 'more', now, #entries }
for _, entry in ipairs(entries) do
  local principal = entry.principal or ''
  bytes[principal] = (bytes[principal] or 0) + entry.size
end
for principal, size in pairs(bytes) do
  answer[#answer + 1] = principal
  answer[#answer + 1] = size
end
return answer
