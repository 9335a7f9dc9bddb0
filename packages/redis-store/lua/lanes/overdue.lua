-- Takes lanes whose noted deadline has passed out of the index.
-- KEYS:
--   1 xg:deadlines: sorted set
-- ARGV:
--   3 most: integer
-- Returns lanes.
local lanes = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', Keys.nowMs(), 'LIMIT', 0, ARGV[3])
if #lanes > 0 then redis.call('ZREM', KEYS[1], unpack(lanes)) end
return lanes
