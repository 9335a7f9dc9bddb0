-- Reports on running jobs: stores progress and notifies other nodes with waiting clients. Needs jobs.lua, step.lua.
-- Returns 1, or 0 if the token is not the job's.
local function report(lane, kind, id, token, a, b)
  local key = jobKey(lane, id)
  local job = redis.call('HMGET', key, 'token', 'wait')
  if job[1] ~= token then return 0 end
  if kind == 'status' then
    redis.call('HSET', key, 'status:dividend', a, 'status:divisor', b)
    relay(lane, id, job[2], node, kind, a .. '\0' .. b)
  else
    relay(lane, id, job[2], node, kind, a)
  end
  return 1
end
