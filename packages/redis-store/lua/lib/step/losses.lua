-- Jobs that come back without an outcome. Needs keys.lua.

-- Notes that a worker was lost, if it was. Whether the job ends with it: nobody waits for it any more, or too many were.
local function endsWithWorker(lane, id, waiting, isLost, mostLosses)
  local key = jobKey(lane, id)
  local v = redis.call('HMGET', key, 'losses', 'fg')
  local losses = (tonumber(v[1]) or 0) + (isLost and 1 or 0)
  if isLost then redis.call('HSET', key, 'losses', losses) end
  return (v[2] and not waiting) or (isLost and mostLosses > 0 and losses >= mostLosses)
end
