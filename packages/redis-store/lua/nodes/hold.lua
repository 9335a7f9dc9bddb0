-- Notes leases of a living Faktory worker that go back when it dies.
-- KEYS:
--   1 xg:holders: sorted set
-- ARGV:
--   3 holder: string
--   4 and more, per lease: token, `<id> <lane>`: strings
-- Returns 1.
--#include keys
-- No lease is longer than a day, or extended by more than that.
local keptSeconds = 172800
local holder = ARGV[3]
redis.call('ZADD', KEYS[1], integer(nowMs()), holder)
for at = 4, #ARGV, 2 do
  redis.call('HSET', heldKey(holder), ARGV[at], ARGV[at + 1])
end
redis.call('EXPIRE', heldKey(holder), keptSeconds)
return 1
