-- Jobs that come back without an outcome. Needs keys.lua.

-- Notes a lost worker, if it was lost. Returns the end of a job that ends with it: expired, as nobody
-- waits for it, or lost, as too many workers were.
local function endsWithWorker(lane, id, waiting, isLost, maxLosses)
  local key = jobKey(lane, id)
  --#include former
  local v = redis.call('HMGET', key, 'losses', 'fg', 'door', 'token')
  local losses = (read.whole(v[1]) or 0) + (isLost and 1 or 0)
  if isLost then
    redis.call('HSET', key, 'losses', losses)
    if v[4] then former.note(lane, id, v[4]) end
  end
  if waiting == '' and read.isForeground(v[3], v[2], '') then return 'expired' end
  return isLost and maxLosses > 0 and losses >= maxLosses and 'lost' or nil
end
