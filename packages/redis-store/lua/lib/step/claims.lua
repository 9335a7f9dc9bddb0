-- Leases up to `max` jobs, group after group, or by level: the highest level of all groups first. Needs levels.lua,
-- jobs.lua, throttle.lua, step.lua.

-- The number of this node's next token.
local sequence = 0

-- The first letter of a token, by how a lane is open; see `by` in step.lua.
local letters = { n = { named = 'n' }, l = { named = 'n' }, f = { named = 'c' }, o = { open = 'c' },
  a = { open = 'c', auto = 'a' } }

-- The first letter of a lease's token: n by name, c a consumer, a a consumer by the automatic rule; false if the lane
-- is closed to this worker.
local function letterFor(claim, lane)
  local known = claim.letters[lane]
  if known == nil then
    local of = letters[claim.by]
    known = of.named or of[openness(lane, now)] or false
    claim.letters[lane] = known
  end
  return known
end

-- Tells if the node still has a job that it submitted: 1 with a waiting client, 0 without, nil not. Such jobs have the
-- usual level of their band, no times of their own and no lock.
local function keptAs(lane, id)
  local at = keptAt[lane]
  if not at then return nil end
  local number = tonumber(id)
  for first = at + 1, at + 3 * given[at], 3 do
    if number >= given[first] and number <= given[first + 1] then return given[first + 2] end
  end
end

-- The fields that may have changed; nil if there is no such job. A job that runs again has another `enqueued`.
local function readKept(lane, id, foreground)
  if foreground == 0 then
    local enqueued = redis.pcall('HGET', jobKey(lane, id), 'enqueued')
    return type(enqueued) == 'string' and { status = 'idle', enqueued = enqueued } or nil
  end
  local v = jobFields(lane, id, 'enqueued', 'wait')
  if not v[1] then return nil end
  return { status = 'idle', enqueued = v[1], wait = v[2], fg = v[2] or jobFields(lane, id, 'fg')[1] }
end

-- The fields of a job's hash; nil if there is none. `stored`: flat as the server has them, absent if the node has the
-- rest.
local function readJob(lane, id)
  local enqueued = fresh[lane] and fresh[lane][id]
  if enqueued then return { status = 'idle', enqueued = enqueued } end
  local foreground = keptAs(lane, id)
  local job = foreground and readKept(lane, id, foreground)
  if job then return job end
  local stored = redis.pcall('HGETALL', jobKey(lane, id))
  if stored.err or #stored == 0 then return nil end
  job = {}
  for at = 1, #stored, 2 do job[stored[at]] = stored[at + 1] end
  job.stored = stored
  return job
end

-- Ends a job that nobody wants to run any more.
local function expire(lane, id, fields)
  --#include jobs
  local job = { id = id, door = fields.door, unique = fields.unique, jid = fields.jid, waiting = fields.wait }
  job.keep, job.how = fields.keep, 'expired'
  finishJob(lane, job, '', 'error', 'expired')
  redis.call('HINCRBY', metaKey(lane), 'expired', 1)
end

-- The deadline of a lease without one: beyond all times. Each claim's is below the last one's, since the server inserts
-- fastest at the front of a set: 4 us less per job.
local noDeadline = 9e15

-- The deadline of a job's lease, as text.
local function deadlineOf(claim, job, leaseMs)
  if claim.isNamed and not leaseMs then
    claim.noDeadline = claim.noDeadline or integer(noDeadline - sequence)
    return claim.noDeadline
  end
  local seconds = tonumber(job.reserve_for)
  return integer(now + (leaseMs or seconds and seconds * 1000 or defaultReserveMs))
end

-- Adds a job to the answer of a claim. Consecutive jobs that the node has become one string.
local function answer(claim, lane, id, token, job)
  local jobs = claim.jobs
  if job.stored then
    setAside(job.stored, reply)
    jobs[#jobs + 1], jobs[#jobs + 2], claim.row = lane, { id, token, job.stored }, nil
    return
  end
  local row = claim.row
  if not row or row.lane ~= lane then
    row = { lane = lane }
    jobs[#jobs + 1], jobs[#jobs + 2], claim.row = lane, row, row
  end
  row[#row + 1] = id .. ' ' .. token .. ' ' .. job.enqueued
end

-- Leases a popped job, unless nobody waits for it or wants it any more.
local function leaseJob(claim, lane, band, id, leaseMs, job)
  job = job or readJob(lane, id)
  if not job then return end
  local key = jobKey(lane, id)
  if job.level then tookLevel(lane, job.level) end
  if not job.status then return end
  if job.fg and not job.wait then
    local v = redis.call('HMGET', key, 'unique', 'jid')
    forgetIndexes(lane, id, v[1], v[2])
    redis.call('DEL', key)
    return
  end
  if job.stale and now >= (tonumber(job.stale) or now + 1) then return expire(lane, id, job) end
  if job.once_until then unlock(lane, id, job.once) end
  local token = letterFor(claim, lane) .. node .. '-' .. sequence
  sequence = sequence + 1
  redis.call('HSET', key, 'status', 'busy', 'token', token)
  -- A native client's job has the level of the band it was pushed to, and goes back there.
  if job.stored and not job.level and band ~= 'normal' then redis.call('HSET', key, 'level', usual[band]) end
  if isHeard(lane) then redis.call('PUBLISH', channelOf(lane), 'start:' .. id) end
  answer(claim, lane, id, token, job)
  local deadline = deadlineOf(claim, job, leaseMs)
  claim.taken = claim.taken + 1
  local throttle = claim.byLane[lane]
  if throttle then
    -- Throttles are checked against the stored deadline.
    redis.call('ZADD', busyKey(lane), deadline, id)
    tookThrottled(throttle, lane, id, now)
  else
    local added = claim.deadlines[lane] or {}
    claim.deadlines[lane] = added
    added[#added + 1], added[#added + 2] = deadline, id
  end
end

-- The band, rank and level of the next job; none if another program has put another type in the place of a queue. A job
-- seen for the first time is younger than those of this millisecond.
local function headIn(lane)
  local isSound, band, rankOfHead, level = pcall(headOf, lane, now + 1)
  if isSound then return band, rankOfHead, level end
end

local function pop(lane, band) return redis.call('RPOP', queueKey(lane, band)) end

local function takeFromBand(claim, lane, band, leaseMs)
  local throttle = claim.byLane[lane]
  while claim.taken < claim.max and mayTake(throttle, now) do
    local ids = redis.pcall('RPOP', queueKey(lane, band), throttle and 1 or claim.max - claim.taken)
    if not ids or ids.err then return end
    for _, id in ipairs(ids) do leaseJob(claim, lane, band, id, leaseMs) end
  end
end

local function takeFromLane(claim, lane, leaseMs)
  for _, band in ipairs({ 'high', 'normal', 'low' }) do
    if claim.taken >= claim.max then return end
    takeFromBand(claim, lane, band, leaseMs)
  end
end

-- Takes from several lanes (`first` to `last` of the arguments) as from one line. Reads all heads once, then one by
-- one.
local function takeInOrder(claim, first, last, leaseMs)
  local heads = {}
  for index = first, last do
    local lane = given[index]
    if letterFor(claim, lane) then
      local band, rankOfHead = headIn(lane)
      if band then heads[#heads + 1] = { lane, band, rankOfHead } end
    end
  end
  while claim.taken < claim.max and #heads > 0 do
    local best = 1
    for at = 2, #heads do
      if heads[at][3] < heads[best][3] then best = at end
    end
    local head = heads[best]
    if mayTake(claim.byLane[head[1]], now) then
      leaseJob(claim, head[1], head[2], pop(head[1], head[2]), leaseMs)
      head[2], head[3] = headIn(head[1])
    else
      head[2] = nil
    end
    if not head[2] then table.remove(heads, best) end
  end
end

-- Takes jobs from the head of a band that precede those of all other lanes of the queue: of rank `bound` or lower. True
-- if it met one that does not, or of unknown age; that one and those behind it went back.
local function takeUpTo(claim, lane, band, bound, leaseMs)
  local ids = redis.pcall('RPOP', queueKey(lane, band), claim.byLane[lane] and 1 or claim.max - claim.taken)
  if not ids or ids.err then return false end
  for at, id in ipairs(ids) do
    local job = readJob(lane, id)
    local enqueued = job and tonumber(job.enqueued)
    local level = job and job.level and levelIn(job.level) or usual[band]
    local place = enqueued and rank(level, enqueued)
    if job and job.status and (not place or place > bound) then
      for back = #ids, at, -1 do redis.call('RPUSH', queueKey(lane, band), ids[back]) end
      return true
    end
    leaseJob(claim, lane, band, id, leaseMs, job)
  end
  return false
end

-- Corrects the hint of a lane without a job of the promised rank: its next job is later or of unknown age, or there is
-- none.
local function correctHint(claim, ready, lane, hint, leaseMs)
  local band, rankOfHead = headIn(lane)
  if not band then
    redis.call('ZREM', ready, lane)
  elseif rankOfHead > hint then
    redis.call('ZADD', ready, rankOfHead, lane)
  else
    leaseJob(claim, lane, band, pop(lane, band), leaseMs)
  end
end

-- Hints that one claim corrects, under 5 ms of the server's time; then another claim goes on.
local mostCorrections = 200

-- Takes from the lanes of a queue by its hint index, which has each lane at the rank of its head or earlier. Wrong
-- hints are corrected when met, so the first right one is the first of all.
local function takeByHint(claim, queue, leaseMs)
  local ready, throttle = readyKey(queue), claim.byQueue[queue]
  while claim.taken < claim.max and mayTake(throttle, now) do
    if claim.corrections >= mostCorrections then return end
    local hints = redis.call('ZRANGE', ready, 0, 1, 'WITHSCORES')
    local lane, bound = hints[1], tonumber(hints[4] or math.huge)
    if not lane then return end
    local before, isStopped = claim.taken, false
    if letterFor(claim, lane) then
      claim.byLane[lane] = throttle
      for _, band in ipairs({ 'high', 'normal', 'low' }) do
        isStopped = takeUpTo(claim, lane, band, bound, leaseMs)
        if isStopped or claim.taken >= claim.max or (throttle and claim.taken > before) then break end
      end
    end
    if claim.taken == before then claim.corrections = claim.corrections + 1 end
    if not letterFor(claim, lane) then
      redis.call('ZREM', ready, lane)
    elseif claim.taken < claim.max and (isStopped or not throttle or claim.taken == before) then
      correctHint(claim, ready, lane, tonumber(hints[2]), leaseMs)
    end
  end
end

-- Reads the next job of a group; false if there is none.
local function findHead(claim, group)
  group.rank = nil
  for index = group.first, group.last do
    local lane = given[index]
    if mayTake(claim.byLane[lane], now) then
      local band, rankOfHead, level = headIn(lane)
      if band and (not group.rank or rankOfHead < group.rank) then
        group.lane, group.band, group.rank, group.level = lane, band, rankOfHead, level
      end
    end
  end
  return group.rank ~= nil
end

-- Takes the highest level of all groups first; groups with next jobs of one level take turns.
local function takeByLevel(claim, all)
  local inTurn = {}
  for _, group in ipairs(all) do
    if findHead(claim, group) then inTurn[#inTurn + 1] = group end
  end
  while claim.taken < claim.max and #inTurn > 0 do
    local best = 1
    for at = 2, #inTurn do
      if inTurn[at].level > inTurn[best].level then best = at end
    end
    local group = table.remove(inTurn, best)
    leaseJob(claim, group.lane, group.band, pop(group.lane, group.band), group.leaseMs)
    if findHead(claim, group) then inTurn[#inTurn + 1] = group end
  end
end

-- Reads the throttles of a claim, at `at`. Returns the place after them.
local function readThrottles(claim, at)
  for _ = 1, given[at] do
    local queue, concurrency, rate, per, timeout, perWorker, worker, lanes = unpack(given, at + 1, at + 8)
    local throttle = { queue = queue, concurrency = concurrency, rate = rate, per = per }
    throttle.timeout, throttle.perWorker, throttle.worker = timeout, perWorker, worker
    claim.byQueue[queue] = throttle
    for lane = at + 9, at + 8 + lanes do claim.byLane[given[lane]] = throttle end
    at = at + 8 + lanes
  end
  return at + 1
end

-- 0: a named worker would find nothing more; not asked of many lanes. 2: another claim has to go on.
local function leftFor(claim, lanes, isThrottled)
  if claim.corrections >= mostCorrections and claim.taken < claim.max then return 2 end
  if not claim.isNamed or isThrottled or #lanes > 8 then return 1 end
  if claim.taken < claim.max then return 0 end
  local keys = {}
  for _, lane in ipairs(lanes) do
    for _, band in ipairs({ 'high', 'normal', 'low' }) do keys[#keys + 1] = queueKey(lane, band) end
  end
  return redis.call('EXISTS', unpack(keys)) > 0 and 1 or 0
end

local function takeFromGroup(claim, group)
  local first, last, queue = group.first, group.last, group.queue
  if queue ~= '' and last > first then
    takeByHint(claim, queue, group.leaseMs)
  elseif first == last then
    if letterFor(claim, given[first]) then takeFromLane(claim, given[first], group.leaseMs) end
  else
    takeInOrder(claim, first, last, group.leaseMs)
  end
end

local function takeAll(claim, groups)
  if claim.by == 'l' then return takeByLevel(claim, groups) end
  for _, group in ipairs(groups) do
    if claim.taken < claim.max then takeFromGroup(claim, group) end
  end
end

-- One claim, at `at`. Returns its answer and the place after it.
local function takeClaim(at)
  local by, max, count = unpack(given, at, at + 2)
  local claim = { by = by, isNamed = by == 'n' or by == 'l', max = max, taken = 0, corrections = 0, jobs = {}, letters = {},
    byQueue = {}, byLane = {}, deadlines = {} }
  local groups, lanes = {}, {}
  at = at + 3
  for index = 1, count do
    local first = at + 3
    local last = first + given[at + 2] - 1
    groups[index] = { leaseMs = tonumber(given[at]), queue = given[at + 1], first = first, last = last }
    for lane = first, math.min(last, first + 8) do lanes[#lanes + 1] = given[lane] end
    at = last + 1
  end
  at = readThrottles(claim, at)
  -- Paused lanes are closed to this worker; what hints at them is set again when they are resumed.
  for lane = at + 1, at + given[at] do claim.letters[given[lane]] = false end
  at = at + 1 + given[at]
  -- Jobs taken before an error are handed out.
  local isSound, problem = pcall(takeAll, claim, groups)
  if not isSound and claim.taken == 0 then return type(problem) == 'table' and problem.err or problem, at end
  for place = 2, #claim.jobs, 2 do
    local job = claim.jobs[place]
    if job.lane then claim.jobs[place] = table.concat(job, ' ') end
  end
  for lane, added in pairs(claim.deadlines) do pushAll('ZADD', busyKey(lane), added) end
  local throttled = {}
  for queue, throttle in pairs(claim.byQueue) do
    if throttle.full then
      throttled[#throttled + 1] = queue
      throttled[#throttled + 1] = math.ceil(throttle.waitMs or 0)
    end
  end
  return { claim.jobs, throttled, leftFor(claim, lanes, #throttled > 0) }, at
end
