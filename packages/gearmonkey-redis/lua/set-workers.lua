-- Sets how many workers behind a node a lane has, and keeps count:{lane} true by the difference.
-- By-name workers close the lane to consumers from then on, and for a time after the last of them.
-- KEYS: count:{lane}. ARGV: open, close, lane, node, by name, consumers, 1 where by-name workers of the function are
-- in other lanes, how long by-name workers close it (ms), queue (its hint index, empty for none).
--#include keys
--#include levels
--#include bridged
local lane, node, named, consumers = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local meta, now = metaKey(lane), nowMs()
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
if named > 0 or namedBefore > 0 or ARGV[7] == '1' then
  noteNamedWorkers(lane, redis.call('HGET', meta, 'closed'), tonumber(ARGV[8]), now, true)
end
if named > 0 then takeBackBridged(lane, now, 1000) end
if named == 0 and namedBefore > 0 then
  hintReady(ARGV[9], lane, now)
  local queued = redis.call('LLEN', queueKey(lane, 'high')) + redis.call('LLEN', queueKey(lane, 'normal'))
    + redis.call('LLEN', queueKey(lane, 'low'))
  if queued > 0 then redis.call('PUBLISH', eventsChannel, 'wake\0' .. lane .. '\0' .. queued) end
end
return 1
