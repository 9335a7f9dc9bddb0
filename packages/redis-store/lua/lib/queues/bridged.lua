-- Requeues jobs that failed at a consumer under the automatic rule, at most `most`, for the function's own workers,
-- once there are any.
function Bridged.takeBackBridged(lane, queue, now, most)
  local ids, jobs = redis.call('ZRANGE', Keys.bridged(lane), 0, most - 1), {}
  if #ids == 0 then return end
  Keys.assertQueueTypes(lane)
  local act = Places.actOn(lane, queue, now)
  for _, id in ipairs(ids) do
    local job = Places.readPlaced(act, id)
    if Places.takeScheduled(act, job) and job.status then
      redis.call('HSET', Keys.job(lane, id), 'enqueued', Keys.integer(now))
      jobs[#jobs + 1] = { id, job.level }
    end
    Keys.forgetRetry(lane, id)
  end
  Places.enterLine(act, jobs)
  Places.endAct(act)
end
