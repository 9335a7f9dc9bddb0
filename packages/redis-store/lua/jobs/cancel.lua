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
--   8 queue (its hint index, empty for none): string
-- Returns 1, or 0 for any other job; a string where another call has to go on.
--#include keys
--#include places
--#include order
--#include aside
--#include removal
--#include jobs
--#include books
local lane, node, id, as = ARGV[3], ARGV[4], ARGV[5], ARGV[7]
local act = actOn(lane, ARGV[8], nowMs())
local job, isFound = readPlaced(act, id), false
if job.status == 'busy' then
  if as ~= 'cancelled' then return 0 end
  isFound = leftLease(act, job)
elseif job.status == 'idle' then
  isFound = takeScheduled(act, job) ~= nil
  if not isFound then
    local removal = removalFrom(lane)
    local list, place = findQueued(removal, id, job.level, job.enqueued, ARGV[6])
    if list then
      place = takeOut(removal, list, place, job)
      closeGaps(removal)
      isFound = true
    end
    if place then return place end
    leftPlace(act, job)
  end
  forgetRetry(lane, id)
end
if not isFound then
  if job.token or as == 'moved' or (job.status ~= 'idle' and job.status ~= 'busy') then return 0 end
  -- A native worker that is alive still writes its outcome: the hash is kept for it.
  job.keep = math.max(read.whole(job.keep) or 0, relaySeconds)
end
finishJob(lane, job, node, 'error', '')
bookTaken(lane, as, 1)
endAct(act)
return 1
