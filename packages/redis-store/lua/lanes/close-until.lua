-- In a cluster: closes a lane to consumers because of workers of its function in another lane.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- ARGV:
--   3 lane: string
--   4, 5 what closed-until returned: integer, ms, and string
-- Returns the number that the lane has no more, or 0.
Lanes.closeUntil(ARGV[3], tonumber(ARGV[4]), ARGV[5])
return tonumber(redis.call('HGET', KEYS[1], 'dropped') or 0)
