-- Promise  What is kept is counted as it is: an entry whose record has expired leaves its list.
-- KEYS     as in parts/epoch.lua; only the last is used, so that any resource of the shard will do
-- ARGV     1 the purpose for which requests are kept
-- Returns  {recounted, now, each principal ('' for nobody in particular) and how many bytes of it the shard keeps, in
--          turn}
-- Writes   k

local now = clock.read()
local bytes, answer = {}, { 'recounted', now }
for _, entry in ipairs(kept.entries(ARGV[1])) do
  local principal = entry.principal or ''
  bytes[principal] = (bytes[principal] or 0) + entry.size
end
for principal, size in pairs(bytes) do
  answer[#answer + 1] = principal
  answer[#answer + 1] = size
end
return answer
