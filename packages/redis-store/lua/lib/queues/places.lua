-- How waiting jobs come to their places in a lane and leave them: the lists of their bands, or the set of scheduled jobs, where
-- jobs that wait for their turn stand, too. Whatever act moves them does it here, and so tells the turns of the others, level
-- hints, marks of retries, the hint of the queue and idle workers. A step hints at its queues by the ranks that it knows, and
-- promotion looks at turns that nobody passed on. What ends a job then tells its batch, lock and indexes (finishJob, buryJob) and
-- counts it (books.lua).

-- An act on jobs of a lane. `queue`: its hint index, empty for none; `limits`: those of each value as this node has them (empty:
-- its jobs take no turns), nil where it does not say.
function Places.actOn(lane, queue, now, limits)
  local act = { lane = lane, queue = queue, now = now, values = {}, lined = 0, ofQueue = 0, ofFunction = 0 }
  if (limits or '') ~= '' or redis.call('EXISTS', Keys.turnHolders(lane)) == 1 then
    Turns.startAt(now)
    Turns.given[lane] = limits or Turns.given[lane]
    act.limits = Turns.limits(lane)
  end
  return act
end

-- A job as its place and its end have to know it. `status` is absent where there is none.
function Places.readPlaced(act, id)
  -- stylua: ignore
  local v = Keys.jobFields(act.lane, id, 'status', 'door', 'unique', 'jid', 'wait', 'keep', 'level', 'enqueued', 'turn', 'token', 'fg')
  return {
    id = id,
    status = v[1],
    door = v[2],
    unique = v[3],
    jid = v[4],
    waiting = v[5],
    keep = v[6],
    level = v[7],
    enqueued = v[8],
    turn = v[9],
    token = v[10],
    fg = v[11],
  }
end

-- A job has left its place: the next of its value may have its turn.
function Places.leftPlace(act, job)
  if act.limits then act.values[job.turn or ''] = true end
end

-- A list of a lane has one job of a level less. `levelText`: as the job's hash has it, nil for none.
function Places.leftLevel(lane, levelText)
  local level = levelText and Bands.levelIn(levelText)
  if not level or level == Bands.usual[Bands.bandOf(level)] then return end
  local left = redis.call('HINCRBY', Keys.meta(lane), 'lv' .. level, -1)
  if left <= 0 then redis.call('HDEL', Keys.meta(lane), 'lv' .. level) end
  -- A few hundred are enough, and not every job asks.
  if left <= 256 and (left % 16 == 0 or left < 0) then Levels.refill(lane, level) end
end

-- A job has left a list: its level is told of it, too.
function Places.leftList(act, job)
  Places.leftLevel(act.lane, job.level)
  Places.leftPlace(act, job)
end

-- A job of a claim has left a list. False where it waits for its turn instead of being leased. Its value is that by which it
-- counts: its own, or '' where there are too many.
function Turns.mayBeLeased(act, job)
  local lane, id = act.lane, job.id
  if not act.limits then return true end
  job.turn = Turns.countedValue(lane, job.turn, id)
  if not Turns.mustWait(lane, job.turn, id, job.level, job.enqueued) then return true end
  Places.leftLevel(lane, job.level)
  return false
end

-- A job that had its turn is leased, or over: the next of its value comes behind all others.
function Turns.leftForWorker(act, job, isLeased)
  if not act.limits then return end
  if isLeased then Turns.start(act.lane, job.turn, job.id) end
  Turns.leave(act.lane, job.turn, job.id)
end

-- Takes a job out of the set of scheduled jobs. Returns how it stood there (scheduled, retry, turn; nil: not at all), and when
-- it was due, as the set has it.
function Places.takeScheduled(act, job)
  local lane, id = act.lane, job.id
  local due = redis.call('ZSCORE', Keys.queue(lane, 'scheduled'), id)
  if not due then return nil end
  redis.call('ZREM', Keys.queue(lane, 'scheduled'), id)
  if tonumber(due) < 5e13 then
    local isRetry = redis.call('ZREM', Keys.retries(lane), id) == 1
    redis.call('ZREM', Keys.bridged(lane), id)
    return isRetry and 'retry' or 'scheduled', due
  end
  if act.limits then
    redis.call('ZREM', Keys.turnWaiting(lane), Turns.entryOf(job.turn or '', id, job.level, job.enqueued))
  end
  Places.leftPlace(act, job)
  return 'turn', due
end

-- Takes the next job of a band or of the set of scheduled jobs; nil where there is none.
function Places.popPlaced(act, place)
  local lane, isTurn = act.lane, place == 'normal'
  if place ~= 'scheduled' then
    local id = redis.call('RPOP', Keys.queue(lane, place))
    local isListed = id
    if not id then id = Aside.popAside(lane, place) end
    if id then
      local job = Places.readPlaced(act, id)
      local leave = isListed and Places.leftList or Places.leftPlace
      leave(act, job)
      return job
    end
    if not isTurn then return nil end
  end
  local from, upTo = isTurn and '5e13' or '-inf', isTurn and '+inf' or '(5e13'
  local id = redis.call('ZRANGEBYSCORE', Keys.queue(lane, 'scheduled'), from, upTo, 'LIMIT', 0, 1)[1]
  if not id then return nil end
  local job = Places.readPlaced(act, id)
  Places.takeScheduled(act, job)
  return job
end

-- The run of a job has ended.
function Places.endRun(act, job)
  if act.limits then Turns.finish(act.lane, job.turn or '', job.id) end
  Places.leftPlace(act, job)
end

-- A lease has ended otherwise than by its outcome. False where there was none.
function Places.leftLease(act, job)
  local lane, id, queue = act.lane, job.id, act.queue
  local isThere = redis.call('ZREM', Keys.busy(lane), id) == 1
  Places.endRun(act, job)
  if queue ~= '' then
    local suffix, slot = '@' .. queue, Throttle.of(lane, id)
    local fn = string.sub(lane, -#suffix) == suffix and string.sub(lane, 1, -#suffix - 1) or lane
    act.ofQueue = act.ofQueue + Throttle.free(queue, slot)
    act.ofFunction = act.ofFunction + Throttle.free('function:' .. fn, slot)
  end
  return isThere
end

-- True if a job that comes is to be queued now; else it waits for its turn.
function Turns.comesNow(act, id, value, level, enqueued)
  return not act.limits or Turns.arrive(act.lane, value, id, level, enqueued)
end

-- Of idle jobs ({ id, level as in their hashes }) in no place those that come into line now; the others wait for their turn.
-- `isBack`: their leases were interrupted.
local function inTurnOf(act, jobs, isBack)
  if not act.limits then return jobs end
  local some, comesNow = {}, isBack and Turns.comeBack or Turns.arrive
  for _, job in ipairs(jobs) do
    local v = Keys.jobFields(act.lane, job[1], 'turn', 'enqueued')
    if comesNow(act.lane, v[1] or '', job[1], job[2], v[2]) then some[#some + 1] = job end
  end
  return some
end

-- Puts idle jobs that are in no place behind those of their level.
function Places.enterLine(act, jobs, isBack)
  local some = inTurnOf(act, jobs, isBack)
  if #some > 0 then Levels.enqueue(act.lane, some) end
  act.lined = act.lined + #some
end

-- The same before them, for jobs whose leases were interrupted: the first is to be next.
function Places.enterFront(act, jobs)
  local some = inTurnOf(act, jobs, true)
  if #some > 0 then Levels.requeue(act.lane, some) end
  act.lined = act.lined + #some
end

-- Lets a job that is in no place come into line at its time (ms).
function Places.schedule(act, id, dueMs)
  redis.call('ZADD', Keys.queue(act.lane, 'scheduled'), dueMs / 1000, id)
  if not Keys.isCluster then redis.call('ZADD', Keys.due, 'LT', Keys.integer(dueMs), act.lane) end
end

-- Ends an act: passes turns on, and tells of the jobs that came into line and of room under limits. Returns how many came.
function Places.endAct(act)
  local lane, queue, lined = act.lane, act.queue, act.lined
  if act.limits then
    for value in pairs(act.values) do
      Turns.passOn(lane, value, act.limits)
    end
  end
  if Turns.at then
    lined = lined + (Turns.lined[lane] or 0)
    Turns.lined[lane] = 0
  end
  if lined > 0 then
    redis.call('HDEL', Keys.meta(lane), 'removed')
    Levels.hintReady(queue, lane, act.now)
    redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('wake', lane, lined))
  end
  local following = act.ofQueue > 0 and redis.call('ZRANGE', Keys.ready(queue), 0, 0)[1]
  if following then redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('wake', following, act.ofQueue)) end
  if act.ofFunction > 0 then redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('room', lane, act.ofFunction)) end
  return lined
end
