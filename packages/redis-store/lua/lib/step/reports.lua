-- Reports on running jobs: stores progress and notifies other nodes with waiting clients.

-- A consumer has fetched a job that its node prefetched for `heldMs`: its time counts from then on, and it outlives the
-- node. `inf`: a by-name worker has all the time that it needs, see noDeadline in leases.lua. Returns as report does.
local function startLease(lane, id, token, heldMs)
  if redis.call('HGET', Keys.job(lane, id), 'token') ~= token then return 0 end
  if heldMs == 'inf' then
    redis.call('ZADD', Keys.busy(lane), 'XX', Keys.integer(8e15), id)
    return 1
  end
  local deadline = tonumber(redis.call('ZSCORE', Keys.busy(lane), id) or 0)
  if deadline % 1 ~= 0 then redis.call('ZADD', Keys.busy(lane), 'XX', Keys.integer(deadline - 0.5 + heldMs), id) end
  return 1
end

-- Returns 1, or 0 if the token is not the job's.
function Reports.report(lane, kind, id, token, a, b)
  if kind == 'lease' then return startLease(lane, id, token, a) end
  local key = Keys.job(lane, id)
  local job = redis.call('HMGET', key, 'token', 'wait')
  if job[1] ~= token then return 0 end
  if kind == 'status' then
    redis.call('HSET', key, 'status:dividend', a, 'status:divisor', b)
    Jobs.relay(lane, id, Jobs.otherNodes(job[2], Step.node), kind, a .. '\0' .. b)
  else
    Jobs.relay(lane, id, Jobs.otherNodes(job[2], Step.node), kind, a)
  end
  return 1
end
