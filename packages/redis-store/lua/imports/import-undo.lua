-- Takes back imported jobs that no worker has begun.
-- KEYS:
--   1 uid:{lane}: string
-- ARGV:
--   3 lane: string
--   4 what (hold: it stands with the dead, and `held` says where it stood; drop: it is gone): string
--   5 when a held job is forgotten: integer, ms
--   6 how far the first job has come in its queues (empty at first): string
--   7 and more, per job: import id, its note, failure (as it was read, empty for none): bytes
-- Returns a digit per job: 1 done, 0 begun or over, 2 the note is another now; for the first ones, as many as one call
-- takes, and how far the next one has come, or empty.
--#include keys
--#include levels
--#include order
--#include aside
--#include removal
--#include jobs
--#include imports
--#include books
local lane, what, heldUntil, results = ARGV[3], ARGV[4], tonumber(ARGV[5]), {}
assertQueueTypes(lane)

local removal, cursor = removalFrom(lane), ARGV[6]
-- Work of one call, about in microseconds; queues are closed up after it.
local maxWork = 1500

-- Removes the id from its queue or the dead set. Returns its place, as `held` names it; nil for none, and how far it
-- has come.
local function take(id, status, level, enqueued)
  local forgotten = status == 'error' and redis.call('ZSCORE', deadKey(lane), id)
  if forgotten then
    redis.call('ZREM', deadKey(lane), id)
    return 'dead:' .. forgotten
  end
  local due = redis.call('ZSCORE', queueKey(lane, 'scheduled'), id)
  if due then
    redis.call('ZREM', queueKey(lane, 'scheduled'), id)
    local isRetry = redis.call('ZREM', retriesKey(lane), id) == 1
    return (isRetry and 'retry:' or 'scheduled:') .. integer(read.due(due))
  end
  if status ~= 'idle' then return nil end
  local list, place = findQueued(removal, id, level, enqueued, cursor)
  if not list then return nil, place end
  local left = takeOut(removal, list, place, { id = id, level = level, enqueued = enqueued })
  if left then return nil, left end
  return 'queued'
end

local function undo(importId, noted, failure)
  local key = importedKey(lane, importId)
  if redis.call('HGET', key, importId) ~= noted then return 2 end
  local id = string.sub(noted, idAt)
  local job =
    jobFields(lane, id, 'status', 'token', 'losses', 'failure', 'level', 'unique', 'jid', 'held', 'enqueued', 'once')
  local isFresh = (job[1] == 'idle' or job[1] == 'error') and not job[2] and not job[3] and (job[4] or '') == failure
  local stood, searched
  if isFresh then
    stood, searched = take(id, job[1], job[5], job[9])
  end
  if not stood then return 0, searched end
  if what == 'hold' then
    -- Held before: its first place counts.
    redis.call('HSET', jobKey(lane, id), 'status', 'error', 'settled', 1, 'held', job[8] or stood)
    redis.call('ZADD', deadKey(lane), heldUntil, id)
    redis.call('HSET', key, importId, 'h' .. string.sub(noted, 2))
    return 1
  end
  if job[10] then unlock(lane, id, job[10]) end
  forgetIndexes(lane, id, job[6], job[7])
  redis.call('DEL', jobKey(lane, id))
  redis.call('HDEL', key, importId)
  bookTaken(lane, 'withdrawn', 1)
  return 1
end

for at = 7, #ARGV, 3 do
  local result, searched = undo(ARGV[at], ARGV[at + 1], ARGV[at + 2])
  cursor = searched or ''
  if searched then break end
  results[#results + 1] = result
  if removal.work > maxWork then break end
end
closeGaps(removal)
return { table.concat(results), cursor }
