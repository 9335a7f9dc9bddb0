-- Requeues jobs that failed at a consumer under the automatic rule, at most `most`, for the function's own workers,
-- once there are any. Needs keys.lua.
--#include places
local function takeBackBridged(lane, queue, now, most)
  local ids, jobs = redis.call('ZRANGE', bridgedKey(lane), 0, most - 1), {}
  if #ids == 0 then return end
  assertQueueTypes(lane)
  local act = actOn(lane, queue, now)
  for _, id in ipairs(ids) do
    local job = readPlaced(act, id)
    if takeScheduled(act, job) and job.status then
      redis.call('HSET', jobKey(lane, id), 'enqueued', integer(now))
      jobs[#jobs + 1] = { id, job.level }
    end
    forgetRetry(lane, id)
  end
  enterLine(act, jobs)
  endAct(act)
end
