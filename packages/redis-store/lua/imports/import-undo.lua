-- Takes back imported jobs that no worker has begun.
-- KEYS:
--   1 uid:{lane}: string
-- ARGV:
--   3 lane: string
--   4 what (hold: it stands with the dead, and `held` says where it stood; drop: it is gone): string
--   5 when a held job is forgotten: integer, ms
--   6 how far the first job has come in its queues (empty at first): string
--   7 queue (its hint index, empty for none): string
--   8 and more, per job: import id, its note, failure (as it was read, empty for none): bytes
-- Returns a digit per job: 1 done, 0 begun or over, 2 the note is another now; for the first ones, as many as one call
-- takes, and how far the next one has come, or empty.
local lane, what, heldUntil, results = ARGV[3], ARGV[4], tonumber(ARGV[5]), {}
Keys.assertQueueTypes(lane)

local removal, cursor = Removal.removalFrom(lane), ARGV[6]
local act = Places.actOn(lane, ARGV[7], Keys.nowMs())
-- Work of one call, about in microseconds; queues are closed up after it.
local maxWork = 1500

-- Removes the id from its queue or the dead set. Returns its place, as `held` names it; nil for none, and how far it
-- has come.
local function take(job)
  local forgotten = job.status == 'error' and redis.call('ZSCORE', Keys.dead(lane), job.id)
  if forgotten then
    redis.call('ZREM', Keys.dead(lane), job.id)
    return 'dead:' .. forgotten
  end
  local how, due = Places.takeScheduled(act, job)
  if how then return how == 'turn' and 'queued' or how .. ':' .. Keys.integer(Fields.due(due)) end
  if job.status ~= 'idle' then return nil end
  local list, place = Removal.findQueued(removal, job.id, job.level, job.enqueued, cursor)
  if not list then return nil, place end
  local left = Removal.takeOut(removal, list, place, job)
  if left then return nil, left end
  Places.leftPlace(act, job)
  return 'queued'
end

local function undo(importId, noted, failure)
  local key = Imports.importedKey(lane, importId)
  if redis.call('HGET', key, importId) ~= noted then return 2 end
  local id = string.sub(noted, Imports.idAt)
  local job, more = Places.readPlaced(act, id), Keys.jobFields(lane, id, 'losses', 'failure', 'held', 'once')
  local isStanding = job.status == 'idle' or job.status == 'error'
  local isFresh = isStanding and not job.token and not more[1] and (more[2] or '') == failure
  local stood, searched
  if isFresh then
    stood, searched = take(job)
  end
  if not stood then return 0, searched end
  if what == 'hold' then
    -- Held before: its first place counts.
    redis.call('HSET', Keys.job(lane, id), 'status', 'error', 'settled', 1, 'held', more[3] or stood)
    redis.call('ZADD', Keys.dead(lane), heldUntil, id)
    redis.call('HSET', key, importId, 'h' .. string.sub(noted, 2))
    return 1
  end
  if more[4] then Dependencies.unlock(lane, id, more[4]) end
  Jobs.forgetIndexes(lane, id, job.unique, job.jid)
  redis.call('DEL', Keys.job(lane, id))
  redis.call('HDEL', key, importId)
  Books.bookTaken(lane, 'withdrawn', 1)
  return 1
end

for at = 8, #ARGV, 3 do
  local result, searched = undo(ARGV[at], ARGV[at + 1], ARGV[at + 2])
  cursor = searched or ''
  if searched then break end
  results[#results + 1] = result
  if removal.work > maxWork then break end
end
Removal.closeGaps(removal)
Places.endAct(act)
return { table.concat(results), cursor }
