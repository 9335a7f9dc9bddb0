-- Sets how many workers behind a node a lane has, and keeps count:{lane} true by the difference.
-- KEYS: count:{lane}. ARGV: open, close, lane, node, by name, consumers.
--#include keys
local lane, node, named, consumers = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local meta = metaKey(lane)
local before = redis.call('HMGET', meta, 'n:' .. node, 'c:' .. node)
local namedBefore, consumersBefore = tonumber(before[1] or 0), tonumber(before[2] or 0)
local change = named - namedBefore + consumers - consumersBefore
-- First, for it is refused where another program has put something else there.
if change ~= 0 then redis.call('INCRBY', KEYS[1], change) end
if named > 0 then redis.call('HSET', meta, 'n:' .. node, named) else redis.call('HDEL', meta, 'n:' .. node) end
if consumers > 0 then
  redis.call('HSET', meta, 'c:' .. node, consumers)
else
  redis.call('HDEL', meta, 'c:' .. node)
end
if consumers ~= consumersBefore then redis.call('HINCRBY', meta, 'consumers', consumers - consumersBefore) end
if named == 0 and namedBefore > 0 then
  local queued = redis.call('LLEN', queueKey(lane, 'high')) + redis.call('LLEN', queueKey(lane, 'normal'))
    + redis.call('LLEN', queueKey(lane, 'low'))
  if queued > 0 then redis.call('PUBLISH', eventsChannel, 'wake\0' .. lane .. '\0' .. queued) end
end
return 1
