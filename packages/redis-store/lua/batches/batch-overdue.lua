-- In a cluster: finds joins so old that their nodes may have died before they stored the jobs.
-- KEYS:
--   1 {xg}:joins: sorted set
-- ARGV:
--   3 how long ago: integer, ms
--   4 the most of them: integer
-- Returns members of {xg}:joins.
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', Keys.integer(Keys.nowMs() - ARGV[3]), 'LIMIT', 0, ARGV[4])
