-- In a cluster: returns how many jobs of a join were stored. From then on the join stores none.
-- KEYS:
--   1 xg:joined:{lane}:<note>: string
-- Returns how many are stored.
local stored = redis.call('GET', KEYS[1])
if not stored then redis.call('SET', KEYS[1], 'void', 'EX', 86400) end
return tonumber(stored or 0) or 0
