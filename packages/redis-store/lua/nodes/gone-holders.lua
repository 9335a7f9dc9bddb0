-- Lists holders that have been gone for long enough.
-- KEYS:
--   1 xg:holders: sorted set
-- ARGV:
--   3 how long: integer, ms
--   4 most: integer
-- Returns { now (ms), then per holder: its name, when it went (ms) }.
local now = Keys.nowMs()
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[3], 'WITHSCORES', 'LIMIT', 0, ARGV[4])
table.insert(found, 1, Keys.integer(now))
return found
