-- Ends or interrupts leases of one lane. The token `native` settles
-- a final status that a native worker wrote. Background jobs that failed for good go to the dead set, failures of
-- others to their clients.

local function isHeldBy(lane, job, token)
  if token == 'native' then
    -- A native worker publishes `finish` once it has set how long the hash stays.
    job.isAnnounced = redis.call('TTL', Keys.job(lane, job.id)) >= 0
    local v = redis.call('HMGET', Keys.job(lane, job.id), 'settled', 'status')
    return job.door and not job.token and not v[1] and (v[2] == 'success' or v[2] == 'error')
  end
  return job.token == token
end

-- Schedules a retry after a delay.
local function retry(lane, job, message, delayMs, failure)
  local due = Step.now + delayMs
  local key = Keys.job(lane, job.id)
  if job.door == 'faktory' then Dependencies.releaseDependencies(lane, job.id, 'retried', job.dependencies) end
  redis.call('HSET', key, 'status', 'idle', 'output', message, 'failure', failure)
  redis.call('HDEL', key, 'token', 'settled', 'status:dividend', 'status:divisor')
  redis.call('PERSIST', key)
  redis.call('ZADD', Keys.queue(lane, 'scheduled'), due / 1000, job.id)
  redis.call('ZADD', Keys.retries(lane), due, job.id)
  if job.door ~= 'faktory' and string.sub(job.token or '', 1, 1) == 'a' then
    redis.call('ZADD', Keys.bridged(lane), due, job.id)
  end
  if not Keys.isCluster then redis.call('ZADD', Keys.due, 'LT', due, lane) end
end

function Outcomes.bury(lane, job, message, failure)
  redis.call('HSET', Keys.job(lane, job.id), 'output', message, 'failure', failure)
  Dead.buryJob(lane, job, Step.node, Step.now, Step.given[3], Step.given[4], 'died')
end

-- The worker did not end the job in time: its outcome may still come.
local function noteLate(lane, job) Former.note(lane, job.id, job.token) end

local digitOf = { failed = '1', expired = '3', died = '5', lost = '6' }

-- `as`: failed, or how a job ends with its worker. Returns its digit, see `ending`.
local function fail(lane, job, message, thrown, failure, as)
  local key = Keys.job(lane, job.id)
  job.how = 'failed'
  if failure ~= '' and not Fields.isForeground(job.door, redis.call('HGET', key, 'fg'), job.waiting) then
    Outcomes.bury(lane, job, message, failure)
    as = 'died'
  else
    Jobs.finishJob(lane, job, Step.node, 'error', message)
    Books.book(lane, as, 1)
  end
  if thrown and message == '' and redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'thrown', 1) end
  return digitOf[as]
end

-- Collects a job for its queue; all of the lane go back at the end of its part. `enqueued`: its new time in line, if it gets
-- one; when it came stays known.
local function interrupt(lane, job, into, enqueued)
  local key = Keys.job(lane, job.id)
  local level, before, arrived = unpack(redis.call('HMGET', key, 'level', 'enqueued', 'arrived'))
  redis.call('HSET', key, 'status', 'idle')
  if enqueued then redis.call('HSET', key, 'enqueued', enqueued, 'arrived', arrived or before or enqueued) end
  redis.call('HDEL', key, 'token', 'settled', 'status:dividend', 'status:divisor')
  into[#into + 1] = { job.id, level }
end

-- Puts jobs back into line, and passes on the turns of those that have ended.
local function putBack(lane, queue, tally)
  local act = Places.actOn(lane, queue, Step.now)
  for _, job in ipairs(tally.turns) do
    Places.endRun(act, job)
  end
  if #tally.back > 0 then Places.enterLine(act, tally.back, true) end
  if #tally.front > 0 then Places.enterFront(act, tally.front) end
  Places.endAct(act)
end

-- Ends one lease. `tally`: work of its lane for the end of its part. Returns a digit: 1 done, 2 requeued, 3 expired,
-- 4 the withheld output is wanted, 5 died, 6 lost, 0 unknown.
local ending = {
  complete = function(lane, job, tally, output)
    local isKept = not job.door or (job.keep and (Fields.whole(job.keep) or 0) > 0)
    local isWithheld = output == 0
    if isWithheld and (isKept or (job.waiting and Waits.withoutNode(job.waiting, Step.node))) then return '4' end
    Jobs.finishJob(lane, job, Step.node, 'success', isWithheld and '' or output, tally.ends)
    tally.completed = tally.completed + 1
    return '1'
  end,
  fail = function(lane, job, _, message, thrown, failure)
    return fail(lane, job, message, thrown == '1', failure, 'failed')
  end,
  dead = function(lane, job, _, message, _, failure) return fail(lane, job, message, false, failure, 'failed') end,
  retry = function(lane, job, tally, message, delayMs, failure)
    retry(lane, job, message, delayMs, failure)
    tally.retried = tally.retried + 1
    return '1'
  end,
  requeueFront = function(lane, job, tally)
    interrupt(lane, job, tally.front)
    return '2'
  end,
  requeue = function(lane, job, tally, lost, maxLosses, failure)
    local as = Losses.endsWithWorker(lane, job.id, job.waiting, lost == '1', maxLosses)
    if as then return fail(lane, job, '', false, failure, as) end
    interrupt(lane, job, tally.back, Keys.stamp(Step.nowMicros))
    return '2'
  end,
}

local function late(kind)
  return function(lane, job, ...)
    noteLate(lane, job)
    return ending[kind](lane, job, ...)
  end
end
ending['late fail'], ending['late retry'], ending['late dead'] = late('fail'), late('retry'), late('dead')

-- The fields needed to end a job. A consumer's is mostly a Faktory job, which may have dependencies.
local function readEnding(lane, id, token)
  local v, dependencies
  if string.sub(token, 1, 1) == 'n' then
    v = redis.call('HMGET', Keys.job(lane, id), 'token', 'door', 'unique', 'jid', 'wait', 'keep')
  else
    -- stylua: ignore
    v = redis.call('HMGET', Keys.job(lane, id), 'token', 'door', 'unique', 'jid', 'wait', 'keep', 'once', 'bid', 'callback', 'ran')
    dependencies = { v[7], v[8], v[9], v[10] }
  end
  return {
    id = id,
    token = v[1],
    door = Fields.doorIn(v[2]),
    unique = v[3],
    jid = v[4],
    waiting = v[5] and Fields.wait(v[5]),
    keep = v[6],
    dependencies = dependencies,
  }
end

-- Ends a job of which the node knows all but its clients elsewhere, and a retention that came since. Most have neither:
-- those end together. Returns a digit as above.
local function endKnown(lane, id, token, tally, output, unique, jid)
  local key = Keys.job(lane, id)
  local v = redis.call('HMGET', key, 'token', 'wait', 'keep')
  if v[1] ~= token then return '0' end
  local waiting, keep = v[2], v[3]
  if unique == '' then unique = nil end
  if jid == '' then jid = nil end
  if Keys.isCluster or keep or (waiting and waiting ~= Step.node and waiting ~= '') then
    local job = { id = id, token = token, door = 'gearman', waiting = waiting and Fields.wait(waiting) }
    job.keep, job.unique, job.jid = keep, unique, jid
    return ending.complete(lane, job, tally, output)
  end
  Jobs.addEnd(lane, id, key, unique, jid, tally.ends)
  if not tally.ends.isQuiet then redis.call('PUBLISH', Keys.channelOf(lane), 'finish:' .. id) end
  tally.completed = tally.completed + 1
  return '1'
end

-- Ends a job whose fields are read.
local function endRead(lane, id, token, tally, kind, a, b, c)
  local job = readEnding(lane, id, token)
  return isHeldBy(lane, job, token) and ending[kind](lane, job, tally, a, b, c) or '0'
end

local queueing = { requeue = true, requeueFront = true, retry = true, ['late retry'] = true }

-- True if a lane with outcomes, the first at `at`, needs its queues.
local function needsQueues(at, runs)
  for _ = 1, runs do
    if queueing[Step.given[at]] then return true end
    at = at + 3 + Step.given[at + 1] * Step.given[at + 2]
  end
  return false
end

-- `hasSlots` says of a step's limits, by their names, whether they have jobs, where that was read.
function Outcomes.begin() Outcomes.hasSlots = {} end

local function hasThrottled(name)
  if name == '' then return false end
  if Outcomes.hasSlots[name] == nil then Outcomes.hasSlots[name] = redis.call('EXISTS', Keys.slots(name)) == 1 end
  return Outcomes.hasSlots[name]
end

-- Ends leases from the one after `tally.index` on, in runs of one kind, the first at `at`.
local function endFrom(lane, queue, runs, at, tally)
  local throttled, ended, seen, index = hasThrottled(queue), tally.ended, tally.seen, 0
  local limit, inTurns = nil, false
  if Step.given[at + 1] == 0 then
    inTurns = Step.given[at + 2] == 2
    limit = not inTurns and hasThrottled(Step.given[at]) and Step.given[at]
  end
  for _ = 1, runs do
    local kind, count, width = unpack(Step.given, at, at + 2)
    at = at + 3
    for first = at, at + width * (count - 1), width do
      index = index + 1
      if index > tally.index then
        tally.index = index
        local id, token, a, b, c, result =
          Step.given[first], Step.given[first + 1], Step.given[first + 2], nil, nil, '0'
        if width > 3 then
          b, c = Step.given[first + 3], Step.given[first + 4]
        end
        local value = inTurns and (redis.call('HGET', Keys.job(lane, id), 'turn') or '')
        if not seen[id] then
          result = kind == 'end' and endKnown(lane, id, token, tally, a, b, c)
            or endRead(lane, id, token, tally, kind, a, b, c)
        end
        if result ~= '0' and result ~= '4' then
          seen[id], ended[#ended + 1] = true, id
          if throttled then tally.freed = tally.freed + Throttle.free(queue, Throttle.of(lane, id)) end
          if limit then tally.released = tally.released + Throttle.free(limit, Throttle.of(lane, id)) end
          if value then tally.turns[#tally.turns + 1] = { turn = value, id = id } end
        end
        tally.results[index] = result
      end
    end
    at = at + width * count
  end
end

-- The outcomes of one lane, `count` of them in `runs` from `at` on. One that fails is unknown, unless nothing else came with
-- it: then it is refused.
function Outcomes.endLane(lane, queue, count, runs, at)
  if needsQueues(at, runs) then Keys.assertQueueTypes(lane) end
  local tally = {
    completed = 0,
    retried = 0,
    back = {},
    front = {},
    ends = Jobs.endsOf(News.listenersOf(lane) ~= 'each'),
    ended = {},
    seen = {},
    results = {},
    index = 0,
    freed = 0,
    released = 0,
    turns = {},
  }
  local isSound, problem = pcall(endFrom, lane, queue, runs, at, tally)
  while not isSound do
    if count == 1 then error(problem, 0) end
    tally.results[tally.index] = '0'
    isSound, problem = pcall(endFrom, lane, queue, runs, at, tally)
  end
  Jobs.finishEnds(lane, tally.ends)
  if #tally.ended > 0 then Bands.pushAll('ZREM', Keys.busy(lane), tally.ended) end
  if #tally.back + #tally.front + #tally.turns > 0 then putBack(lane, queue, tally) end
  -- Wakes workers that wait for room in the queue, by its next lane.
  if tally.freed > 0 then
    local following = redis.call('ZRANGE', Keys.ready(queue), 0, 0)[1]
    if following then redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('wake', following, tally.freed)) end
  end
  if tally.released > 0 then redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('room', lane, tally.released)) end
  Books.book(lane, 'completed', tally.completed)
  Books.book(lane, 'retried', tally.retried)
  return table.concat(tally.results)
end
