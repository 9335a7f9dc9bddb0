-- Claims of a step: up to `max` jobs, group after group, or by level: the highest level of all groups first.

-- Reads the throttles of a claim, at `at`. Returns the place after them.
local function readThrottles(claim, at)
  for _ = 1, Step.given[at] do
    local queue, concurrency, rate, per, timeout, perWorker, worker, lanes = unpack(Step.given, at + 1, at + 8)
    local throttle = { queue = queue, concurrency = concurrency, rate = rate, per = per }
    throttle.timeout, throttle.perWorker, throttle.worker = timeout, perWorker, worker
    claim.throttles[queue] = throttle
    for lane = at + 9, at + 8 + lanes do
      Throttle.limitLane(claim, Step.given[lane], throttle)
      if perWorker < 0 then
        claim.turns[Step.given[lane]] = table.concat({ concurrency, rate, Keys.integer(per) }, ' ')
      end
    end
    if perWorker < 0 then
      throttle.concurrency, throttle.rate, throttle.perWorker = 0, 0, 0
    end
    at = at + 8 + lanes
  end
  return at + 1
end

-- 0: a named worker would find nothing more; of many lanes only known where it got less than it wanted. 2: another claim has
-- to go on.
local function leftFor(claim, lanes, isUnsure)
  if claim.taken < claim.max and not Lines.wantsMore(claim) then return 2 end
  if not claim.isNamed or isUnsure then return 1 end
  if claim.taken < claim.max then return 0 end
  if #lanes > 8 then return 1 end
  local keys = {}
  for _, lane in ipairs(lanes) do
    if not Handover.drained[lane] then
      for _, band in ipairs(Keys.bands) do
        keys[#keys + 1] = Keys.queue(lane, band)
      end
    end
  end
  return keys[1] and redis.call('EXISTS', unpack(keys)) > 0 and 1 or 0
end

local function takeFromGroup(claim, group, index)
  local first, last, queue = group.first, group.last, group.queue
  if queue ~= '' and last > first then
    Lines.takeByHint(claim, queue, group.leaseMs)
  elseif first == last then
    if Handover.mayHaveJobs(claim, index) and Leases.tokenStart(claim, Step.given[first]) then
      Lines.takeFromLane(claim, Step.given[first], group.leaseMs)
    end
  else
    Lines.takeInOrder(claim, first, last, group.leaseMs)
  end
end

local function takeAll(claim, groups)
  if claim.by == 'l' then return Lines.takeByLevel(claim, groups) end
  for index, group in ipairs(groups) do
    if not Lines.wantsMore(claim) then return end
    takeFromGroup(claim, group, index)
  end
end

-- Reads a claim, at `at`. Returns it and the place after it.
function Claims.readClaim(at)
  local by, max, ahead, count = unpack(Step.given, at, at + 3)
  local claim = {
    by = by,
    isNamed = by == 'n' or by == 'l',
    max = max,
    ahead = ahead,
    taken = 0,
    corrections = 0,
    counted = 0,
    jobs = {},
    starts = {},
    throttles = {},
    byLane = {},
    deadlines = {},
    turns = {},
    acts = {},
  }
  local groups, lanes = {}, {}
  claim.groups, claim.lanes = groups, lanes
  at = at + 4
  for index = 1, count do
    local size = Step.given[at]
    if type(size) == 'string' then
      groups[index] = { first = at, last = at }
      lanes[#lanes + 1], at = size, at + 1
    else
      local first, last = at + 3, at + 2 + size
      groups[index] = { leaseMs = tonumber(Step.given[at + 1]), queue = Step.given[at + 2], first = first, last = last }
      for lane = first, math.min(last, first + 8) do
        lanes[#lanes + 1] = Step.given[lane]
      end
      at = last + 1
    end
  end
  at = readThrottles(claim, at)
  -- Paused lanes are closed to this worker; what hints at them is set again when they are resumed.
  for lane = at + 1, at + Step.given[at] do
    claim.starts[Step.given[lane]] = false
  end
  return claim, at + 1 + Step.given[at]
end

-- Returns the answer of a claim.
function Claims.takeClaim(claim)
  local isSound, problem = pcall(takeAll, claim, claim.groups)
  while not isSound and Leases.passOver(claim, problem) do
    isSound, problem = pcall(takeAll, claim, claim.groups)
  end
  -- Jobs taken before an error are handed out.
  if not isSound and claim.taken == 0 then return type(problem) == 'table' and problem.err or problem end
  for place = 2, #claim.jobs, 2 do
    local job = claim.jobs[place]
    if job.lane then claim.jobs[place] = table.concat(job, ' ') end
  end
  for lane, added in pairs(claim.deadlines) do
    Bands.pushAll('ZADD', Keys.busy(lane), Bands.reversed(added))
  end
  local throttled = {}
  for name, throttle in pairs(claim.throttles) do
    if throttle.full then
      throttled[#throttled + 1] = name
      throttled[#throttled + 1] = math.ceil(throttle.waitMs or 0)
    end
  end
  return { claim.jobs, throttled, leftFor(claim, claim.lanes, #throttled > 0 or not isSound), claim.dropped }
end
