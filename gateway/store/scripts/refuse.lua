-- Promise  What was refused before its body was read is told like what admission refuses.
-- KEYS     the resource's seven, as in parts/epoch.lua
-- ARGV     1 resource, 2 gateway, 3 epoch, 4 holder, 5 upstream, 6 rule, 7 principal, 8 the word, 9 its trace
-- Returns  {told, now}, also where it is passed over
-- Writes   refused, a and n

local now = clock.read()
audit.check()
audit.refused({
  id = '', resource = ARGV[1], ticket = '', epoch = ARGV[3], holder = ARGV[4], upstream = ARGV[5], rule = ARGV[6],
  principal = ARGV[7], trace = ARGV[9],
}, ARGV[8], ARGV[2])
return { 'told', now }
