-- Gives a lane its number, once. Tells all nodes of a new one.
-- KEYS: xg:lanes. ARGV: open, close, lane, most. Returns the number, or 0 when there are too many.
--#include keys
local lane, most = ARGV[3], tonumber(ARGV[4])
local known = redis.call('HGET', KEYS[1], lane)
if known then return tonumber(known) end
if redis.call('HLEN', KEYS[1]) >= most then return 0 end
local number = redis.call('INCR', broker .. ':lane-number')
redis.call('HSET', KEYS[1], lane, number)
redis.call('PUBLISH', eventsChannel, 'lane\0' .. lane .. '\0' .. number)
return number
