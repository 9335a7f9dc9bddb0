-- Takes jobs from lanes in their order: from one lane, from several as from one line, by the hint index of a queue, or
-- the highest level first. Needs levels.lua, throttle.lua, leases.lua, step.lua.

-- The band, rank and level of the next job; none if another program has put another type in the place of a queue. A job
-- seen for the first time is younger than those of this millisecond.
local function headIn(lane)
  local isSound, band, rankOfHead, level = pcall(headOf, lane, now + 1)
  if isSound then return band, rankOfHead, level end
end

-- Wrong hints and jobs that nobody wants, of one claim, under 5 ms of the server's time; then another claim goes on.
local maxCorrections = 200

local function wantsMore(claim) return claim.taken < claim.max and claim.corrections < maxCorrections end

local function takeFromBand(claim, lane, band, leaseMs)
  local throttles = claim.byLane[lane]
  while wantsMore(claim) and mayTake(throttles, now) do
    local ids = redis.pcall('RPOP', queueKey(lane, band), throttles and 1 or claim.max - claim.taken)
    if not ids or ids.err then return end
    leaseAll(claim, lane, band, leaseMs, ids)
  end
end

local function takeFromLane(claim, lane, leaseMs)
  for _, band in ipairs(bands) do
    if not wantsMore(claim) then return end
    takeFromBand(claim, lane, band, leaseMs)
  end
end

-- Takes from several lanes (`first` to `last` of the arguments) as from one line. Reads all heads once, then one by
-- one.
local function takeInOrder(claim, first, last, leaseMs)
  local heads = {}
  for index = first, last do
    local lane = given[index]
    if tokenStart(claim, lane) then
      local band, rankOfHead = headIn(lane)
      if band then heads[#heads + 1] = { lane, band, rankOfHead } end
    end
  end
  while wantsMore(claim) and #heads > 0 do
    local best = 1
    for at = 2, #heads do
      if heads[at][3] < heads[best][3] then best = at end
    end
    local head = heads[best]
    if mayTake(claim.byLane[head[1]], now) then
      leaseAll(claim, head[1], head[2], leaseMs)
      head[2], head[3] = headIn(head[1])
    else
      head[2] = nil
    end
    if not head[2] then table.remove(heads, best) end
  end
end

-- Takes jobs from the head of a band that precede those of all other lanes of the queue: of rank `bound` or lower; of a
-- lane with a throttle one. True if it met one that does not, or of unknown age; that one and those behind it went back.
local function takeUpTo(claim, lane, band, bound, leaseMs)
  local isThrottled = claim.byLane[lane] ~= nil
  local lease = claim.turns[lane] and turns.lease or leaseJob
  while wantsMore(claim) do
    local before = claim.taken
    local ids = redis.pcall('RPOP', queueKey(lane, band), isThrottled and 1 or claim.max - before)
    if not ids or ids.err then return false end
    claim.popped, claim.from, claim.band = ids, lane, band
    for at, id in ipairs(ids) do
      claim.at = at
      local job = readJob(lane, id)
      local enqueued = job and read.time(job.enqueued)
      local level = job and job.level and levelIn(job.level) or usual[band]
      local place = enqueued and rank(level, enqueued)
      if job and job.status and (not place or place > bound) then
        for back = #ids, at, -1 do
          redis.call('RPUSH', queueKey(lane, band), ids[back])
        end
        claim.popped = nil
        return true
      end
      lease(claim, lane, band, id, leaseMs, job)
    end
    claim.popped = nil
    if isThrottled and claim.taken > before then return false end
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
    leaseAll(claim, lane, band, leaseMs)
  end
end

-- Takes from the lanes of a queue by its hint index, which has each lane at the rank of its head or earlier. Wrong
-- hints are corrected when met, so the first right one is the first of all. Passes over lanes whose function has no room:
-- nothing of theirs is prefetched.
local function takeByHint(claim, queue, leaseMs)
  local ready, ofQueue, passed = readyKey(queue), claim.throttles[queue], 0
  while wantsMore(claim) and not (ofQueue and ofQueue.full) do
    local hints = redis.call('ZRANGE', ready, passed, passed + 1, 'WITHSCORES')
    local lane, bound = hints[1], tonumber(hints[4] or math.huge)
    if not lane then return end
    if ofQueue then slots.limitLane(claim, lane, ofQueue) end
    local before, isStopped, throttles = claim.taken, false, claim.byLane[lane]
    if not tokenStart(claim, lane) then
      redis.call('ZREM', ready, lane)
      claim.corrections = claim.corrections + 1
    elseif throttles and (claim.taken >= claim.max - claim.ahead or not mayTake(throttles, now)) then
      passed = passed + 1
    else
      for _, band in ipairs(bands) do
        isStopped = takeUpTo(claim, lane, band, bound, leaseMs)
        if isStopped or not wantsMore(claim) or (throttles and claim.taken > before) then break end
      end
      if claim.taken == before then claim.corrections = claim.corrections + 1 end
      if wantsMore(claim) and (isStopped or not throttles or claim.taken == before) then
        correctHint(claim, ready, lane, tonumber(hints[2]), leaseMs)
      end
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
  while wantsMore(claim) and #inTurn > 0 do
    local best = 1
    for at = 2, #inTurn do
      if inTurn[at].level > inTurn[best].level then best = at end
    end
    local group = table.remove(inTurn, best)
    leaseAll(claim, group.lane, group.band, group.leaseMs)
    if findHead(claim, group) then inTurn[#inTurn + 1] = group end
  end
end
