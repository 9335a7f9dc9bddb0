-- Jobs that come back without an outcome. Needs keys.lua.

-- Notes a lost worker, if it was lost. True if the job ends with it: nobody waits for it, or too many workers were
-- lost.
local function endsWithWorker(lane, id, waiting, isLost, mostLosses)
  local key = jobKey(lane, id)
  local v = redis.call('HMGET', key, 'losses', 'fg', 'door')
  local losses = (read.whole(v[1]) or 0) + (isLost and 1 or 0)
  if isLost then redis.call('HSET', key, 'losses', losses) end
  return (waiting == '' and read.isForeground(v[3], v[2], '')) or (isLost and mostLosses > 0 and losses >= mostLosses)
end
