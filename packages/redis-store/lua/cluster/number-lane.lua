-- Sets the number of a lane that has been registered: from now on its jobs are taken.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- ARGV:
--   3 number: integer
-- Returns 1, or 0 where the lane was dropped meanwhile and has that number no more.
if tonumber(redis.call('HGET', KEYS[1], 'dropped') or 0) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'number', ARGV[3])
redis.call('PERSIST', KEYS[1])
return 1
