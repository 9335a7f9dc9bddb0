-- Cancels a job that is queued, scheduled or leased, or that a native worker took and may have died with. Deletes one that
-- does not run; moves away one that is queued or scheduled: its copy will run.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 id: integer
--   6 how far it has come in its queues (empty at first): string
--   7 as which it is counted (see books.lua): string
-- Returns 1, or 0 for any other job; a string where another call has to go on.
--#include keys
--#include levels
--#include order
--#include aside
--#include removal
--#include jobs
--#include books
local lane, node, id, as = ARGV[3], ARGV[4], ARGV[5], ARGV[7]
local v = jobFields(lane, id, 'status', 'door', 'unique', 'jid', 'wait', 'keep', 'level', 'token', 'enqueued')
local job = { id = id, door = v[2], unique = v[3], jid = v[4], waiting = v[5], keep = v[6] }
local found = 0
if v[1] == 'busy' then
  if as ~= 'cancelled' then return 0 end
  found = redis.call('ZREM', KEYS[1], id)
elseif v[1] == 'idle' then
  found = redis.call('ZREM', queueKey(lane, 'scheduled'), id)
  if found == 0 then
    local removal = removalFrom(lane)
    local list, place = findQueued(removal, id, v[7], v[9], ARGV[6])
    if list then
      place = takeOut(removal, list, place, { id = id, level = v[7], enqueued = v[9] })
      closeGaps(removal)
      found = 1
    end
    if place then return place end
  end
  forgetRetry(lane, id)
end
if found == 0 then
  if v[8] or as == 'moved' or (v[1] ~= 'idle' and v[1] ~= 'busy') then return 0 end
  -- A native worker that is alive still writes its outcome: the hash is kept for it.
  job.keep = math.max(read.whole(job.keep) or 0, relaySeconds)
end
finishJob(lane, job, node, 'error', '')
bookTaken(lane, as, 1)
return 1
