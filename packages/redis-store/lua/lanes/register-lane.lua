-- Gives a lane its number, once, and announces a new one to all nodes. Workers of the function close a new lane as they
-- close its home lane; in a cluster a step before this does that.
-- KEYS:
--   1 xg:lanes: hash
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 lane: string
--   4 most: integer
--   5 the function's home lane (empty: no other): string
--   6 how long by-name workers close a lane: integer, ms
-- Returns the number, or 0 when there are too many.
--#include keys
--#include lanes
local lane, most = ARGV[3], tonumber(ARGV[4])
local known = redis.call('HGET', KEYS[1], lane)
if known then return tonumber(known) end
if redis.call('HLEN', KEYS[1]) >= most then return 0 end
-- The lane may come back.
if not isCluster then redis.call('PERSIST', metaKey(lane)) end
if ARGV[5] ~= '' then closeUntil(lane, closedUntil(ARGV[5], tonumber(ARGV[6]), nowMs())) end
local number = redis.call('INCR', broker .. ':lane-number')
redis.call('HSET', KEYS[1], lane, number)
redis.call('PUBLISH', eventsChannel, 'lane\0' .. lane .. '\0' .. number)
return number
