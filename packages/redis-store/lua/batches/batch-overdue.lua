-- In a cluster: submissions that joined batches so long ago that their nodes may have died before they stored
-- them. KEYS: {xg}:joins. ARGV: open, close, how long ago (ms), the most of them.
-- Returns members of {xg}:joins.
--#include keys
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', integer(nowMs() - ARGV[3]), 'LIMIT', 0, ARGV[4])
