-- Moves jobs out of a set of a lane: into its queues, to the dead set, or away.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 queue (its hint index, empty for none): string
--   6 set (scheduled, retries, dead): string
--   7 to (queue; when it is due instead: ms; dead; away: see bookTaken in books.lua): string
--   8 dead set's most: integer
--   9 dead seconds: integer, seconds
--   10 and more: ids: strings
-- Returns the ids that stood in the set.
local lane, node, queue, set, to = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local deadMost, deadSeconds = tonumber(ARGV[8]), tonumber(ARGV[9])
local now, due, moved, back = Keys.nowMs(), tonumber(ARGV[7]), {}, {}
Keys.assertQueueTypes(lane)
local act = Places.actOn(lane, queue, now)

-- True if the job stood in the set, which it has left now.
local function take(job)
  if set == 'dead' then return redis.call('ZREM', Keys.dead(lane), job.id) == 1 end
  local score = tonumber(redis.call('ZSCORE', Keys.queue(lane, 'scheduled'), job.id) or nil)
  local isRetry = redis.call('ZSCORE', Keys.retries(lane), job.id) ~= false
  -- A job that waits for its turn is in the queue.
  if not score or score >= 5e13 or isRetry ~= (set == 'retries') then return false end
  Places.takeScheduled(act, job)
  return true
end

for at = 10, #ARGV do
  local job = Places.readPlaced(act, ARGV[at])
  local id, key = job.id, Keys.job(lane, ARGV[at])
  if take(job) and redis.call('EXISTS', key) == 1 then
    if due and due > now then
      Places.schedule(act, id, due)
    elseif due or to == 'queue' then
      redis.call('HSET', key, 'status', 'idle')
      if not due then redis.call('HSET', key, 'rerun', Keys.integer(now)) end
      Arrival.lineUp(key, Keys.nowUs())
      redis.call('HDEL', key, 'settled')
      -- The waiters of a dead job are gone: it now runs in the background.
      if set == 'dead' then redis.call('HDEL', key, 'fg') end
      -- Others join it again, unless another job has its unique id by now.
      if set == 'dead' and job.unique then redis.call('HSETNX', Keys.unique(lane), job.unique, id) end
      back[#back + 1] = { id, job.level }
    elseif to == 'dead' then
      Dead.buryJob(lane, job, node, now, deadMost, deadSeconds, 'killed')
    else
      Jobs.finishJob(lane, job, node, 'error', '')
      Books.bookTaken(lane, to, 1)
    end
    moved[#moved + 1] = id
  end
end
if to == 'queue' then Books.book(lane, 'rerun', #back) end
Places.enterLine(act, back)
Places.endAct(act)
return moved
