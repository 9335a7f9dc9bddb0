-- Notes leases of a Faktory worker that go back once it is gone.
-- KEYS:
--   1 xg:holders: sorted set
-- ARGV:
--   3 holder: string
--   4 and more, per lease: token, `<id> <lane>`: strings
-- Returns 1.
--#include keys
--#include holders
local holder = ARGV[3]
redis.call('ZADD', KEYS[1], integer(nowMs() + 1000 * leasesSeconds), holder)
for at = 4, #ARGV, 2 do
  redis.call('HSET', heldKey(holder), ARGV[at], ARGV[at + 1])
end
redis.call('EXPIRE', heldKey(holder), leasesSeconds)
return 1
