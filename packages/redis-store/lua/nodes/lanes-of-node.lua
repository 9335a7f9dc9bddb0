-- Finds the lanes in which a node may have left something: its worker counts, or jobs, each of which may name it.
-- KEYS:
--   1 xg:busy:{lane} of the first lane: sorted set
-- ARGV:
--   3 node: string
--   4 and more: lanes: strings
-- Returns a list of lanes.
local node, found = ARGV[3], {}
for at = 4, #ARGV do
  local lane = ARGV[at]
  -- If another program has put another type in its place, the lane is refused by itself.
  local counts = redis.pcall('HMGET', Keys.meta(lane), 'n:' .. node, 'c:' .. node)
  -- stylua: ignore
  local isConcerned = counts.err or counts[1] or counts[2] or redis.call('EXISTS', Keys.busy(lane), Keys.queue(lane, 'high'),
    Keys.queue(lane, 'normal'), Keys.queue(lane, 'low'), Keys.queue(lane, 'scheduled'), Keys.level(lane, 9), Keys.level(lane, 7),
    Keys.level(lane, 6), Keys.level(lane, 4), Keys.level(lane, 3), Keys.level(lane, 1)) > 0
  if isConcerned then found[#found + 1] = lane end
end
return found
