-- Moves due jobs of lanes from their scheduled sets into their queues, of each lane the oldest first.
-- KEYS: queue:{lane}:scheduled of the first. ARGV: open, close, most, then per lane: lane, queue (hint
-- index, empty for none).
-- Returns per lane { moved, due time of the next in ms or empty }.
--#include keys
--#include levels
local most, now, results = tonumber(ARGV[3]), nowMs(), {}

-- Moves what is due in a lane; returns how many, and when the next is due (ms; empty for none).
local function promote(lane, queue)
  local scheduled, jobs, best = queueKey(lane, 'scheduled'), {}, nil
  needQueues(lane)
  local ids = redis.call('ZRANGEBYSCORE', scheduled, '-inf', now / 1000, 'LIMIT', 0, most)
  if #ids > 0 then
    most = most - #ids
    redis.call('ZREM', scheduled, unpack(ids))
    for _, id in ipairs(ids) do
      local job = jobFields(lane, id, 'status', 'level', 'door')
      if job[1] then
        local level = levelIn(job[2])
        jobs[#jobs + 1] = { id, level }
        if not best or level > best then best = level end
        if job[3] then redis.call('HSET', jobKey(lane, id), 'enqueued', integer(now)) end
      end
    end
    if redis.call('EXISTS', retriesKey(lane)) == 1 then
      redis.call('ZREMRANGEBYSCORE', retriesKey(lane), '-inf', now)
      redis.call('ZREM', retriesKey(lane), unpack(ids))
    end
  end
  if #jobs > 0 then
    enqueue(lane, jobs)
    if queue ~= '' then redis.call('ZADD', readyKey(queue), 'LT', rank(best, now), lane) end
    redis.call('PUBLISH', eventsChannel, 'wake\0' .. lane .. '\0' .. #jobs)
  end
  local following = redis.call('ZRANGE', scheduled, 0, 0, 'WITHSCORES')[2]
  return #jobs, following and integer(math.ceil(tonumber(following) * 1000)) or ''
end

for at = 4, #ARGV, 2 do
  local lane = ARGV[at]
  local isSound, moved, due = pcall(promote, lane, ARGV[at + 1])
  -- Another program has put something else in the place of a queue; `heal` tells of it.
  if not isSound then moved, due = 0, '' end
  if not isCluster then
    if due == '' then redis.call('ZREM', dueKey, lane) else redis.call('ZADD', dueKey, due, lane) end
  end
  results[#results + 1] = { moved, due }
end
return results
