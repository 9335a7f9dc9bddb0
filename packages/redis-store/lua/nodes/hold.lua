-- Notes leases of a Faktory worker that go back once it is gone.
-- KEYS:
--   1 xg:holders: sorted set
-- ARGV:
--   3 holder: string
--   4 and more, per lease: token, `<id> <lane>`: strings
-- Returns 1.
local holder = ARGV[3]
redis.call('ZADD', KEYS[1], Keys.integer(Keys.nowMs() + 1000 * Holders.leasesSeconds), holder)
for at = 4, #ARGV, 2 do
  redis.call('HSET', Keys.held(holder), ARGV[at], ARGV[at + 1])
end
redis.call('EXPIRE', Keys.held(holder), Holders.leasesSeconds)
return 1
