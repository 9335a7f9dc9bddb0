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
local lane, node, id, as = ARGV[3], ARGV[4], ARGV[5], ARGV[7]
local act = Places.actOn(lane, ARGV[8], Keys.nowMs())
local job, isFound = Places.readPlaced(act, id), false
if job.status == 'busy' then
  if as ~= 'cancelled' then return 0 end
  isFound = Places.leftLease(act, job)
elseif job.status == 'idle' then
  isFound = Places.takeScheduled(act, job) ~= nil
  if not isFound then
    local removal = Removal.removalFrom(lane)
    local list, place = Removal.findQueued(removal, id, job.level, job.enqueued, ARGV[6])
    if list then
      place = Removal.takeOut(removal, list, place, job)
      Removal.closeGaps(removal)
      isFound = true
    end
    if place then return place end
    Places.leftPlace(act, job)
  end
  Keys.forgetRetry(lane, id)
end
if not isFound then
  if job.token or as == 'moved' or (job.status ~= 'idle' and job.status ~= 'busy') then return 0 end
  -- A native worker that is alive still writes its outcome: the hash is kept for it.
  job.keep = math.max(Fields.whole(job.keep) or 0, JobEnds.relaySeconds)
end
Jobs.finishJob(lane, job, node, 'error', '')
Books.bookTaken(lane, as, 1)
Places.endAct(act)
return 1
