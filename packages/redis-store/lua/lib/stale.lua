-- Ends a job that has waited too long. Needs jobs.lua.
--#include dead

-- `fields`: those of its hash. A background job with `dies_stale` goes to the dead set, with its last failure if it has
-- one. Returns how it is counted: expired or died.
local function endStale(lane, id, fields, node, now, most, seconds)
  local job = { id = id, door = fields.door, unique = fields.unique, jid = fields.jid, waiting = fields.wait }
  job.keep, job.how = fields.keep, 'expired'
  if fields.dies_stale ~= '1' or read.isForeground(fields.door, fields.fg, fields.wait) then
    finishJob(lane, job, node, 'error', 'expired')
    book(lane, 'expired', 1)
    return 'expired'
  end
  local key, message = jobKey(lane, id), 'it waited longer than its route allows'
  redis.call('HSET', key, 'output', message)
  local failure = { errtype = 'Expired', message = message, retry_count = 0, remaining = 0 }
  redis.call('HSETNX', key, 'failure', cjson.encode(failure))
  -- An operator may run it all the same.
  redis.call('HDEL', key, 'stale', 'dies_stale')
  buryJob(lane, job, node, now, most, seconds, 'died')
  return 'died'
end
