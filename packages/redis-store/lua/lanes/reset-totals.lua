-- Sets the counters of a lane back. Jobs that stand in it have come.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- ARGV:
--   3 lane: string
-- Returns how many jobs stand.
--#include keys
--#include books
local lane, standing = ARGV[3], 0
for _, band in ipairs(bands) do
  standing = standing + redis.call('LLEN', queueKey(lane, band))
end
for level = 1, 9 do
  standing = standing + redis.call('LLEN', levelKey(lane, level))
end
for _, key in ipairs({ queueKey(lane, 'scheduled'), busyKey(lane), deadKey(lane) }) do
  standing = standing + redis.call('ZCARD', key)
end
redis.call('HDEL', KEYS[1], unpack(counters))
book(lane, 'submitted', standing)
return standing
