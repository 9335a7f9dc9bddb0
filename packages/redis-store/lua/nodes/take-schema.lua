-- Raises the version of the store's structures, unless a node of an older one uses them.
-- KEYS:
--   1 xg:schema: string
--   2 xg:nodes: sorted set
-- ARGV:
--   3 the version that they have: integer
--   4 the version from now on: integer
-- Returns 1 where it was raised, else 0.
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 0 end
for _, node in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if (tonumber(string.match(node, '^(%d+)x')) or 1) < tonumber(ARGV[4]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[4])
return 1
