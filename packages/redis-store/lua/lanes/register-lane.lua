-- Gives a lane its number, once, and announces a new one to all nodes. Workers of the function close a new lane as they
-- close its home lane; in a cluster the steps before and after this are for the lane's hash.
-- KEYS:
--   1 xg:lanes: hash
-- ARGV:
--   3 lane: string
--   4 the function's home lane (empty: no other): string
--   5 how long by-name workers close a lane: integer, ms
--   6 in a cluster: a number that the lane has no more (0: none): integer
-- Returns the number, or 0 when there are too many.
--#include keys
--#include lanes
--#include registry
if isCluster then return (numberLane(ARGV[3], tonumber(ARGV[6]))) or 0 end
return registerLane(ARGV[3], ARGV[4], tonumber(ARGV[5])) or 0
