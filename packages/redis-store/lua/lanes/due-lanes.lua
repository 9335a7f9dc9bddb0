-- Lists lanes with due jobs, by the index.
-- KEYS:
--   1 xg:due: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 most: integer
-- Returns lanes.
--#include keys
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', nowMs(), 'LIMIT', 0, ARGV[3])
