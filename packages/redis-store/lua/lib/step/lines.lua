-- Takes jobs from lanes in their order: from one lane, from several as from one line, by the hint index of a queue, or
-- the highest level first.

-- The band, rank and level of the next job; none if another program has put another type in the place of a queue. A job
-- seen for the first time is younger than those of this millisecond.
local function headIn(lane)
  local isSound, band, rankOfHead, level = pcall(Levels.headOf, lane, Step.now + 1)
  if isSound then return band, rankOfHead, level end
end

-- Wrong hints and jobs that nobody wants, of one claim, under 5 ms of the server's time; then another claim goes on.
local maxCorrections = 200

function Lines.wantsMore(claim) return claim.taken < claim.max and claim.corrections < maxCorrections end

local function takeFromBand(claim, lane, band, leaseMs)
  local throttles = claim.byLane[lane]
  while Lines.wantsMore(claim) and Throttle.mayTake(throttles, Step.now) do
    local ids = redis.pcall('RPOP', Keys.queue(lane, band), throttles and 1 or claim.max - claim.taken)
    if not ids or ids.err then return end
    Leases.leaseAll(claim, lane, band, leaseMs, ids)
  end
end

function Lines.takeFromLane(claim, lane, leaseMs)
  for _, band in ipairs(Keys.bands) do
    if not Lines.wantsMore(claim) then return end
    takeFromBand(claim, lane, band, leaseMs)
  end
end

-- Takes from several lanes (`first` to `last` of the arguments) as from one line. Reads all heads once, then one by
-- one.
function Lines.takeInOrder(claim, first, last, leaseMs)
  local heads = {}
  for index = first, last do
    local lane = Step.given[index]
    if Leases.tokenStart(claim, lane) then
      local band, rankOfHead = headIn(lane)
      if band then heads[#heads + 1] = { lane, band, rankOfHead } end
    end
  end
  while Lines.wantsMore(claim) and #heads > 0 do
    local best = 1
    for at = 2, #heads do
      if heads[at][3] < heads[best][3] then best = at end
    end
    local head = heads[best]
    if Throttle.mayTake(claim.byLane[head[1]], Step.now) then
      Leases.leaseAll(claim, head[1], head[2], leaseMs)
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
  local lease = claim.turns[lane] and Turns.lease or Leases.leaseJob
  while Lines.wantsMore(claim) do
    local before = claim.taken
    local ids = redis.pcall('RPOP', Keys.queue(lane, band), isThrottled and 1 or claim.max - before)
    if not ids or ids.err then return false end
    claim.popped, claim.from, claim.band = ids, lane, band
    for at, id in ipairs(ids) do
      claim.at = at
      local job = Leases.readJob(lane, id)
      local enqueued = job and Fields.time(job.enqueued)
      local level = job and job.level and Bands.levelIn(job.level) or Bands.usual[band]
      local place = enqueued and Levels.rank(level, enqueued)
      if job and job.status and (not place or place > bound) then
        for back = #ids, at, -1 do
          redis.call('RPUSH', Keys.queue(lane, band), ids[back])
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
    Leases.leaseAll(claim, lane, band, leaseMs)
  end
end

-- Takes from the lanes of a queue by its hint index, which has each lane at the rank of its head or earlier. Wrong
-- hints are corrected when met, so the first right one is the first of all. Passes over lanes whose function has no room:
-- nothing of theirs is prefetched.
function Lines.takeByHint(claim, queue, leaseMs)
  local ready, ofQueue, passed = Keys.ready(queue), claim.throttles[queue], 0
  while Lines.wantsMore(claim) and not (ofQueue and ofQueue.full) do
    local hints = redis.call('ZRANGE', ready, passed, passed + 1, 'WITHSCORES')
    local lane, bound = hints[1], tonumber(hints[4] or math.huge)
    if not lane then return end
    if ofQueue then Throttle.limitLane(claim, lane, ofQueue) end
    local before, isStopped, throttles = claim.taken, false, claim.byLane[lane]
    if not Leases.tokenStart(claim, lane) then
      redis.call('ZREM', ready, lane)
      claim.corrections = claim.corrections + 1
    elseif throttles and (claim.taken >= claim.max - claim.ahead or not Throttle.mayTake(throttles, Step.now)) then
      passed = passed + 1
    else
      for _, band in ipairs(Keys.bands) do
        isStopped = takeUpTo(claim, lane, band, bound, leaseMs)
        if isStopped or not Lines.wantsMore(claim) or (throttles and claim.taken > before) then break end
      end
      if claim.taken == before then claim.corrections = claim.corrections + 1 end
      if Lines.wantsMore(claim) and (isStopped or not throttles or claim.taken == before) then
        correctHint(claim, ready, lane, tonumber(hints[2]), leaseMs)
      end
    end
  end
end

-- Reads the next job of a group; false if there is none.
local function findHead(claim, group)
  group.rank = nil
  for index = group.first, group.last do
    local lane = Step.given[index]
    if Throttle.mayTake(claim.byLane[lane], Step.now) then
      local band, rankOfHead, level = headIn(lane)
      if band and (not group.rank or rankOfHead < group.rank) then
        group.lane, group.band, group.rank, group.level = lane, band, rankOfHead, level
      end
    end
  end
  return group.rank ~= nil
end

-- Takes the highest level of all groups first; groups with next jobs of one level take turns.
function Lines.takeByLevel(claim, all)
  local inTurn = {}
  for _, group in ipairs(all) do
    if findHead(claim, group) then inTurn[#inTurn + 1] = group end
  end
  while Lines.wantsMore(claim) and #inTurn > 0 do
    local best = 1
    for at = 2, #inTurn do
      if inTurn[at].level > inTurn[best].level then best = at end
    end
    local group = table.remove(inTurn, best)
    Leases.leaseAll(claim, group.lane, group.band, group.leaseMs)
    if findHead(claim, group) then inTurn[#inTurn + 1] = group end
  end
end
