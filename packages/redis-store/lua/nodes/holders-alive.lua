-- Holders of leases live. One that holds nothing is not noted.
-- KEYS: xg:holders. ARGV: open, close, holders.
--#include keys
local now = integer(nowMs())
for at = 3, #ARGV do redis.call('ZADD', KEYS[1], 'XX', now, ARGV[at]) end
return 1
