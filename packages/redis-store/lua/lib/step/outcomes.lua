-- Ends or interrupts leases of one lane. Needs jobs.lua, losses.lua, throttle.lua, step.lua. The token `native` settles
-- a final status that a native worker wrote. Background jobs that failed for good go to the dead set, failures of
-- others to their clients.

local function isHeldBy(lane, job, token)
  if token == 'native' then
    -- A native worker publishes `finish` once it has set how long the hash stays.
    job.isAnnounced = redis.call('TTL', jobKey(lane, job.id)) >= 0
    local v = redis.call('HMGET', jobKey(lane, job.id), 'settled', 'status')
    return job.door and not job.token and not v[1] and (v[2] == 'success' or v[2] == 'error')
  end
  return job.token == token
end

-- Schedules a retry after a delay.
local function retry(lane, job, message, delayMs, failure)
  local due = now + delayMs
  local key = jobKey(lane, job.id)
  if job.door == 'faktory' then releaseDependencies(lane, job.id, 'retried', job.dependencies) end
  redis.call('HSET', key, 'status', 'idle', 'output', message, 'failure', failure)
  redis.call('HDEL', key, 'token', 'settled', 'status:dividend', 'status:divisor')
  redis.call('PERSIST', key)
  redis.call('ZADD', queueKey(lane, 'scheduled'), due / 1000, job.id)
  redis.call('ZADD', retriesKey(lane), due, job.id)
  if job.door ~= 'faktory' and string.sub(job.token or '', 1, 1) == 'a' then
    redis.call('ZADD', bridgedKey(lane), due, job.id)
  end
  if not isCluster then redis.call('ZADD', dueKey, 'LT', due, lane) end
end

local function bury(lane, job, message, failure)
  --#include dead
  redis.call('HSET', jobKey(lane, job.id), 'output', message, 'failure', failure)
  buryJob(lane, job, node, now, given[3], given[4], 'died')
end

-- The worker did not end the job in time: its outcome may still come.
local function noteLate(lane, job)
  --#include former
  former.note(lane, job.id, job.token)
end

local digitOf = { failed = '1', expired = '3', died = '5', lost = '6' }

-- `as`: failed, or how a job ends with its worker. Returns its digit, see `ending`.
local function fail(lane, job, message, thrown, failure, as)
  local key = jobKey(lane, job.id)
  job.how = 'failed'
  if failure ~= '' and not read.isForeground(job.door, redis.call('HGET', key, 'fg'), job.waiting) then
    bury(lane, job, message, failure)
    as = 'died'
  else
    finishJob(lane, job, node, 'error', message)
    book(lane, as, 1)
  end
  if thrown and message == '' and redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'thrown', 1) end
  return digitOf[as]
end

-- Collects a job for its queue; all of the lane go back at the end of its part. `enqueued`: its new time in line, if it gets
-- one; when it came stays known.
local function interrupt(lane, job, into, enqueued)
  local key = jobKey(lane, job.id)
  local level, before, arrived = unpack(redis.call('HMGET', key, 'level', 'enqueued', 'arrived'))
  redis.call('HSET', key, 'status', 'idle')
  if enqueued then redis.call('HSET', key, 'enqueued', enqueued, 'arrived', arrived or before or enqueued) end
  redis.call('HDEL', key, 'token', 'settled', 'status:dividend', 'status:divisor')
  into[#into + 1] = { job.id, level }
end

-- Puts jobs back into line, and passes on the turns of those that have ended.
local function putBack(lane, queue, tally)
  --#include places
  local act = actOn(lane, queue, now)
  for _, job in ipairs(tally.turns) do
    endRun(act, job)
  end
  if #tally.back > 0 then enterLine(act, tally.back, true) end
  if #tally.front > 0 then enterFront(act, tally.front) end
  endAct(act)
end

-- Ends one lease. `tally`: work of its lane for the end of its part. Returns a digit: 1 done, 2 requeued, 3 expired,
-- 4 the withheld output is wanted, 5 died, 6 lost, 0 unknown.
local ending = {
  complete = function(lane, job, tally, output)
    local isKept = not job.door or (job.keep and (read.whole(job.keep) or 0) > 0)
    local isWithheld = output == 0
    if isWithheld and (isKept or (job.waiting and withoutNode(job.waiting, node))) then return '4' end
    finishJob(lane, job, node, 'success', isWithheld and '' or output, tally.ends)
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
    local as = endsWithWorker(lane, job.id, job.waiting, lost == '1', maxLosses)
    if as then return fail(lane, job, '', false, failure, as) end
    interrupt(lane, job, tally.back, stamp(nowMicros))
    return '2'
  end,
}

for _, kind in ipairs({ 'fail', 'retry', 'dead' }) do
  ending['late ' .. kind] = function(lane, job, ...)
    noteLate(lane, job)
    return ending[kind](lane, job, ...)
  end
end

-- The fields needed to end a job. A consumer's is mostly a Faktory job, which may have dependencies.
local function readEnding(lane, id, token)
  local v, dependencies
  if string.sub(token, 1, 1) == 'n' then
    v = redis.call('HMGET', jobKey(lane, id), 'token', 'door', 'unique', 'jid', 'wait', 'keep')
  else
    -- stylua: ignore
    v = redis.call('HMGET', jobKey(lane, id), 'token', 'door', 'unique', 'jid', 'wait', 'keep', 'once', 'bid', 'callback', 'ran')
    dependencies = { v[7], v[8], v[9], v[10] }
  end
  return {
    id = id,
    token = v[1],
    door = doorIn(v[2]),
    unique = v[3],
    jid = v[4],
    waiting = v[5] and read.wait(v[5]),
    keep = v[6],
    dependencies = dependencies,
  }
end

-- Ends a job of which the node knows all but its clients elsewhere, and a retention that came since. Most have neither:
-- those end together. Returns a digit as above.
local function endKnown(lane, id, token, tally, output, unique, jid)
  local key = jobKey(lane, id)
  local v = redis.call('HMGET', key, 'token', 'wait', 'keep')
  if v[1] ~= token then return '0' end
  local waiting, keep = v[2], v[3]
  if unique == '' then unique = nil end
  if jid == '' then jid = nil end
  if isCluster or keep or (waiting and waiting ~= node and waiting ~= '') then
    local job = { id = id, token = token, door = 'gearman', waiting = waiting and read.wait(waiting) }
    job.keep, job.unique, job.jid = keep, unique, jid
    return ending.complete(lane, job, tally, output)
  end
  addEnd(lane, id, key, unique, jid, tally.ends)
  if not tally.ends.isQuiet then redis.call('PUBLISH', channelOf(lane), 'finish:' .. id) end
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
    if queueing[given[at]] then return true end
    at = at + 3 + given[at + 1] * given[at + 2]
  end
  return false
end

-- If limits have jobs, by the name of the limit, where that was read.
local hasSlots = {}

local function hasThrottled(name)
  if name == '' then return false end
  if hasSlots[name] == nil then hasSlots[name] = redis.call('EXISTS', slotsKey(name)) == 1 end
  return hasSlots[name]
end

-- Ends leases from the one after `tally.index` on, in runs of one kind, the first at `at`.
local function endFrom(lane, queue, runs, at, tally)
  local throttled, ended, seen, index = hasThrottled(queue), tally.ended, tally.seen, 0
  local limit, inTurns = nil, false
  if given[at + 1] == 0 then
    inTurns = given[at + 2] == 2
    limit = not inTurns and hasThrottled(given[at]) and given[at]
  end
  for _ = 1, runs do
    local kind, count, width = unpack(given, at, at + 2)
    at = at + 3
    for first = at, at + width * (count - 1), width do
      index = index + 1
      if index > tally.index then
        tally.index = index
        local id, token, a, b, c, result = given[first], given[first + 1], given[first + 2], nil, nil, '0'
        if width > 3 then
          b, c = given[first + 3], given[first + 4]
        end
        local value = inTurns and (redis.call('HGET', jobKey(lane, id), 'turn') or '')
        if not seen[id] then
          result = kind == 'end' and endKnown(lane, id, token, tally, a, b, c)
            or endRead(lane, id, token, tally, kind, a, b, c)
        end
        if result ~= '0' and result ~= '4' then
          seen[id], ended[#ended + 1] = true, id
          if throttled then tally.freed = tally.freed + slots.free(queue, slots.of(lane, id)) end
          if limit then tally.released = tally.released + slots.free(limit, slots.of(lane, id)) end
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
local function endLane(lane, queue, count, runs, at)
  if needsQueues(at, runs) then assertQueueTypes(lane) end
  local tally = {
    completed = 0,
    retried = 0,
    back = {},
    front = {},
    ends = endsOf(listenersOf(lane) ~= 'each'),
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
  finishEnds(lane, tally.ends)
  if #tally.ended > 0 then pushAll('ZREM', busyKey(lane), tally.ended) end
  if #tally.back + #tally.front + #tally.turns > 0 then putBack(lane, queue, tally) end
  -- Wakes workers that wait for room in the queue, by its next lane.
  if tally.freed > 0 then
    local following = redis.call('ZRANGE', readyKey(queue), 0, 0)[1]
    if following then redis.call('PUBLISH', eventsChannel, framed('wake', following, tally.freed)) end
  end
  if tally.released > 0 then redis.call('PUBLISH', eventsChannel, framed('room', lane, tally.released)) end
  book(lane, 'completed', tally.completed)
  book(lane, 'retried', tally.retried)
  return table.concat(tally.results)
end
