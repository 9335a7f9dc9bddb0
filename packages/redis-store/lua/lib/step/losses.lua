-- Jobs that come back without an outcome.

-- Notes a lost worker, if it was lost. Returns the end of a job that ends with it: expired, as nobody
-- waits for it, or lost, as too many workers were.
function Losses.endsWithWorker(lane, id, waiting, isLost, maxLosses)
  local key = Keys.job(lane, id)
  local v = redis.call('HMGET', key, 'losses', 'fg', 'door', 'token')
  local losses = (Fields.whole(v[1]) or 0) + (isLost and 1 or 0)
  if isLost then
    redis.call('HSET', key, 'losses', losses)
    if v[4] then Former.note(lane, id, v[4]) end
  end
  if waiting == '' and Fields.isForeground(v[3], v[2], '') then return 'expired' end
  return isLost and maxLosses > 0 and losses >= maxLosses and 'lost' or nil
end
