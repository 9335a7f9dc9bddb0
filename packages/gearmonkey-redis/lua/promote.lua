-- Moves due jobs of one lane from its scheduled set into its queues, oldest first.
-- KEYS: queue:{lane}:scheduled. ARGV: open, close, lane, queue (hint index, empty for none), most.
-- Returns { moved, due time of the next in ms or empty }.
--#include keys
--#include levels
local lane, queue, now, jobs, best = ARGV[3], ARGV[4], nowMs(), {}, nil
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now / 1000, 'LIMIT', 0, ARGV[5])
for _, id in ipairs(ids) do
  redis.call('ZREM', KEYS[1], id)
  local key = jobKey(lane, id)
  if redis.call('EXISTS', key) == 1 then
    local level = levelOf(lane, id)
    jobs[#jobs + 1] = { id, level }
    if not best or level > best then best = level end
    if redis.call('HEXISTS', key, 'door') == 1 then redis.call('HSET', key, 'enqueued', integer(now)) end
  end
end
if #ids > 0 and redis.call('EXISTS', retriesKey(lane)) == 1 then
  redis.call('ZREMRANGEBYSCORE', retriesKey(lane), '-inf', now)
  redis.call('ZREM', retriesKey(lane), unpack(ids))
end
if #jobs > 0 then
  enqueue(lane, jobs)
  if queue ~= '' then redis.call('ZADD', readyKey(queue), 'LT', rank(best, now), lane) end
  redis.call('PUBLISH', eventsChannel, 'wake\0' .. lane .. '\0' .. #jobs)
end
local following = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
local due = following and integer(math.ceil(tonumber(following) * 1000)) or ''
if not isCluster then
  if due == '' then redis.call('ZREM', dueKey, lane) else redis.call('ZADD', dueKey, due, lane) end
end
return { #jobs, due }
