-- Takes imported jobs back that no worker has begun.
-- KEYS:
--   1 uid:{lane}: string
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 lane: string
--   4 what (hold: it stands with the dead, and `held` says where it stood; drop: it is gone): string
--   5 when a held job is forgotten: integer, ms
--   6 and more, per job: import id, its note, failure (as it was read, empty for none)
-- Returns a digit per job: 1 done, 0 begun or over, 2 the note is another now.
--#include keys
--#include levels
--#include aside
--#include jobs
--#include imports
local lane, what, heldUntil, results = ARGV[3], ARGV[4], tonumber(ARGV[5]), {}
assertQueueTypes(lane)

-- Removes the id from its queue or the dead set. Returns its place, as `held` names it; nil for none.
local function take(id, status, level)
  local forgotten = status == 'error' and redis.call('ZSCORE', deadKey(lane), id)
  if forgotten then
    redis.call('ZREM', deadKey(lane), id)
    return 'dead:' .. forgotten
  end
  local due = redis.call('ZSCORE', queueKey(lane, 'scheduled'), id)
  if due then
    redis.call('ZREM', queueKey(lane, 'scheduled'), id)
    local isRetry = redis.call('ZREM', retriesKey(lane), id) == 1
    return (isRetry and 'retry:' or 'scheduled:') .. integer(due * 1000)
  end
  for _, band in ipairs({ 'high', 'normal', 'low' }) do
    -- The oldest are taken back first and stand at this end.
    if redis.call('LREM', queueKey(lane, band), -1, id) == 1 then
      if level then tookLevel(lane, level) end
      return 'queued'
    end
  end
  return nil
end

local function undo(importId, noted, failure)
  local key = importedKey(lane, importId)
  if redis.call('HGET', key, importId) ~= noted then return 2 end
  local id = string.sub(noted, idAt)
  local job = jobFields(lane, id, 'status', 'token', 'losses', 'failure', 'level', 'unique', 'jid', 'held')
  local isFresh = (job[1] == 'idle' or job[1] == 'error') and not job[2] and not job[3] and (job[4] or '') == failure
  local stood = isFresh and take(id, job[1], job[5])
  if not stood then return 0 end
  if what == 'hold' then
    -- Held before: its first place counts.
    redis.call('HSET', jobKey(lane, id), 'status', 'error', 'settled', 1, 'held', job[8] or stood)
    redis.call('ZADD', deadKey(lane), heldUntil, id)
    redis.call('HSET', key, importId, 'h' .. string.sub(noted, 2))
    return 1
  end
  forgetIndexes(lane, id, job[6], job[7])
  redis.call('DEL', jobKey(lane, id))
  redis.call('HDEL', key, importId)
  redis.call('HINCRBY', metaKey(lane), 'submitted', -1)
  return 1
end

for at = 6, #ARGV, 3 do results[#results + 1] = undo(ARGV[at], ARGV[at + 1], ARGV[at + 2]) end
return table.concat(results)
