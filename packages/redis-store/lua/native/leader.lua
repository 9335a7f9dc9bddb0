-- Takes, renews or gives back leadership over native orphans.
-- KEYS:
--   1 xg:caretaker: string
-- ARGV:
--   3 node: string
--   4 for how long (ms; 0: gives it back): integer, ms
-- Returns 1 if the node has it.
local node, forMs = ARGV[3], tonumber(ARGV[4])
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= node then return 0 end
if forMs == 0 then
  redis.call('DEL', KEYS[1])
  return 0
end
redis.call('SET', KEYS[1], node, 'PX', forMs)
return 1
