-- Lanes that have due jobs, as far as the index knows.
-- KEYS: xg:due. ARGV: open, close, most.
--#include keys
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', nowMs(), 'LIMIT', 0, ARGV[3])
