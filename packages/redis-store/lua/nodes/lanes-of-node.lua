-- Finds the lanes in which a node may have left something: its worker counts, or jobs, each of which may name it.
-- KEYS:
--   1 xg:busy:{lane} of the first lane: sorted set
-- ARGV:
--   3 node: string
--   4 and more: lanes: strings
-- Returns a list of lanes.
--#include keys
local node, found = ARGV[3], {}
for at = 4, #ARGV do
  local lane = ARGV[at]
  -- If another program has put another type in its place, the lane is refused by itself.
  local counts = redis.pcall('HMGET', metaKey(lane), 'n:' .. node, 'c:' .. node)
  -- stylua: ignore
  local isConcerned = counts.err or counts[1] or counts[2] or redis.call('EXISTS', busyKey(lane), queueKey(lane, 'high'),
    queueKey(lane, 'normal'), queueKey(lane, 'low'), queueKey(lane, 'scheduled'), levelKey(lane, 9), levelKey(lane, 7),
    levelKey(lane, 6), levelKey(lane, 4), levelKey(lane, 3), levelKey(lane, 1)) > 0
  if isConcerned then found[#found + 1] = lane end
end
return found
