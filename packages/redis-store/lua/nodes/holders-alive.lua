-- Notes that holders of leases are alive. One without leases is not noted.
-- KEYS:
--   1 xg:holders: sorted set
-- ARGV:
--   3 and more: holders: strings
-- Returns 1.
--#include keys
local now = integer(nowMs())
for at = 3, #ARGV do
  redis.call('ZADD', KEYS[1], 'XX', now, ARGV[at])
end
return 1
