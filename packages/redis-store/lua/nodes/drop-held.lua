-- Drops ended leases of a holder. A holder without any is forgotten.
-- KEYS:
--   1 xg:holders: sorted set
-- ARGV:
--   3 holder: string
--   4 and more: tokens: strings
-- Returns 1.
local holder = ARGV[3]
for at = 4, #ARGV do
  redis.call('HDEL', Keys.held(holder), ARGV[at])
end
if redis.call('EXISTS', Keys.held(holder)) == 0 then redis.call('ZREM', KEYS[1], holder) end
return 1
