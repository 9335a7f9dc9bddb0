-- Requeues jobs that failed at a consumer under the automatic rule, at most `most`, for the function's own workers,
-- once there are any. Needs keys.lua.
--#include levels
local function takeBackBridged(lane, now, most)
  local ids, jobs = redis.call('ZRANGE', bridgedKey(lane), 0, most - 1), {}
  if #ids == 0 then return end
  assertQueueTypes(lane)
  for _, id in ipairs(ids) do
    forgetRetry(lane, id)
    if redis.call('ZREM', queueKey(lane, 'scheduled'), id) == 1 then
      local job = jobFields(lane, id, 'status', 'level')
      if job[1] then
        redis.call('HSET', jobKey(lane, id), 'enqueued', integer(now))
        jobs[#jobs + 1] = { id, job[2] }
      end
    end
  end
  if #jobs == 0 then return end
  enqueue(lane, jobs)
  redis.call('PUBLISH', eventsChannel, framed('wake', lane, #jobs))
end
