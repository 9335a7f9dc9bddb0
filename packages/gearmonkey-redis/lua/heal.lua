-- Puts lanes into the indexes that native programs filled unheard, and forgets dead jobs whose time is up.
-- KEYS: queue:{lane}:scheduled of the first. ARGV: open, close, then per lane: lane, queue.
--#include keys
--#include levels
--#include jobs
local now = nowMs()
for at = 3, #ARGV, 2 do
  local lane, queue = ARGV[at], ARGV[at + 1]
  local following = redis.call('ZRANGE', queueKey(lane, 'scheduled'), 0, 0, 'WITHSCORES')[2]
  if following and not isCluster then redis.call('ZADD', dueKey, 'LT', math.ceil(tonumber(following) * 1000), lane) end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', deadKey(lane), '-inf', now, 'LIMIT', 0, 100)) do
    forgetIndexes(lane, id, nil, redis.call('HGET', jobKey(lane, id), 'jid'))
    redis.call('DEL', jobKey(lane, id))
    redis.call('ZREM', deadKey(lane), id)
  end
  hintReady(queue, lane, now)
end
return 1
