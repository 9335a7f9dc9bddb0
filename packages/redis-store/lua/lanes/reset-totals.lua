-- Sets the counters of a lane back. Jobs that stand in it have come.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- ARGV:
--   3 lane: string
-- Returns how many jobs stand.
local lane, standing = ARGV[3], 0
for _, band in ipairs(Keys.bands) do
  standing = standing + redis.call('LLEN', Keys.queue(lane, band))
end
for level = 1, 9 do
  standing = standing + redis.call('LLEN', Keys.level(lane, level))
end
for _, key in ipairs({ Keys.queue(lane, 'scheduled'), Keys.busy(lane), Keys.dead(lane) }) do
  standing = standing + redis.call('ZCARD', key)
end
redis.call('HDEL', KEYS[1], unpack(Books.counters))
Books.book(lane, 'submitted', standing)
return standing
