-- Drops what a former lane left.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- Returns 1, or 0 where the lane is registered again.
if redis.call('HEXISTS', KEYS[1], 'number') == 1 then return 0 end
return redis.call('DEL', KEYS[1])
