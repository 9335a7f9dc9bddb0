-- Gives a lane its number in the registry, once, and announces a new one to all nodes. The steps before and after this are
-- for the lane's hash.
-- KEYS:
--   1 {xg}:lanes: hash
-- ARGV:
--   3 lane: string
--   4 a number that the lane has no more (0: none): integer
-- Returns the number, or 0 when there are too many.
return (Registry.numberLane(ARGV[3], tonumber(ARGV[4]))) or 0
