-- Moves due jobs of lanes into their queues, the oldest first. They line up by due time, then by arrival. A lane with
-- jobs outside its lists is polled every second, so that native workers get the next of them.
-- KEYS:
--   1 queue:{lane}:scheduled of the first: sorted set
-- ARGV:
--   3 most: integer
--   4 and more, per lane: lane, queue (hint index, empty for none), limits of each value where jobs take turns (see turns.lua;
--     empty for none): strings
-- Returns per lane { moved, when it is to be polled again in ms or empty, 1 where more is due, 2 where it had no turn
-- }.
local most, now, results = tonumber(ARGV[3]), Keys.nowMs(), {}
-- Called for each job: names of globals would be looked up each time.
local call, format = redis.call, string.format
-- The due jobs, a list a field, times in us. Keys are false where no gateway queued a job so far. `targets`: the ids that
-- line up in a lane's level, of which `lined` has all.
local ids, targets, keys, dues, cames, count, lined = {}, {}, {}, {}, {}, 0, {}
-- The arrival to note for each, false where it is known.
local arrivals = {}
-- Places in these lists by the length of ids. A set has ids of one time as texts, so each of these is mostly in order.
local runs, areInOrder = {}, true
-- The act on each lane.
local acts = {}
Turns.startAt(now)

local function isEarlier(one, other)
  if dues[one] ~= dues[other] then return dues[one] < dues[other] end
  if cames[one] ~= cames[other] then return cames[one] < cames[other] end
  return (tonumber(ids[one]) or 0) < (tonumber(ids[other]) or 0)
end

-- The list of ids of a lane's level.
local function targetOf(lane, level)
  local byLevel = lined[lane]
  if not byLevel then
    byLevel = {}
    lined[lane] = byLevel
  end
  local target = byLevel[level]
  if not target then
    target = { size = 0 }
    byLevel[level] = target
  end
  return target
end

-- Level, time in line and, where that has changed, arrival of a lane's first scheduled jobs, flat. For many of them one SORT takes a sixth off the whole
-- promotion. A cluster refuses it, an ACL may, and it would take an asterisk in the lane's name for the id.
local function levelsAndArrivals(lane, scheduled, found)
  local size = #found
  if size >= 32 and not Keys.isCluster and not string.find(lane, '*', 1, true) then
    local job = Keys.of('job', lane) .. ':*->'
    local ranks = { 'LIMIT', 0, size, 'GET', job .. 'level', 'GET', job .. 'enqueued', 'GET', job .. 'arrived' }
    local all = redis.pcall('SORT', scheduled, 'BY', 'nosort', unpack(ranks))
    if not all.err then return all end
  end
  local all = {}
  for place = 1, size do
    local job = Keys.jobFields(lane, found[place], 'level', 'enqueued', 'arrived')
    all[3 * place - 2], all[3 * place - 1], all[3 * place] = job[1], job[2], job[3]
  end
  return all
end

-- Notes the due jobs of a lane that are still there. `us`, `usOf`: see dueTimes.
local function addDue(lane, scheduled, found, us, usOf)
  local prefix, usual = Keys.of('job', lane) .. ':', nil
  local fields = levelsAndArrivals(lane, scheduled, found)
  for place = 1, #found do
    local id, level = found[place], fields[3 * place - 2]
    local key = prefix .. id
    local came = fields[3 * place - 1]
    local cameUs = (Fields.time(came) or 0) * 1000
    local isThere = true
    if cameUs == 0 then
      local job = Keys.jobFields(lane, id, 'level', 'status', 'door')
      level, isThere, key = job[1], job[2], job[3] and key
    end
    if isThere then
      count = count + 1
      local dueUs = us or usOf(place)
      -- No job is in line before it came.
      if dueUs < cameUs then dueUs = cameUs end
      ids[count], keys[count], cames[count], dues[count] = id, key, cameUs, dueUs
      arrivals[count] = cameUs > 0 and not fields[3 * place] and came
      if level then
        targets[count] = targetOf(lane, Bands.levelIn(level))
      else
        usual = usual or targetOf(lane, 5)
        targets[count] = usual
      end
      local run = runs[#id]
      if not run then
        run = { size = 0 }
        runs[#id] = run
      else
        local before = run[run.size]
        if (dueUs < dues[before] or cameUs <= cames[before]) and isEarlier(count, before) then areInOrder = false end
      end
      local size = run.size + 1
      run.size, run[size] = size, count
    end
  end
end

local function merged(one, other)
  local all, first, second = {}, 1, 1
  while one[first] and other[second] do
    if isEarlier(other[second], one[first]) then
      all[#all + 1], second = other[second], second + 1
    else
      all[#all + 1], first = one[first], first + 1
    end
  end
  for at = first, #one do
    all[#all + 1] = one[at]
  end
  for at = second, #other do
    all[#all + 1] = other[at]
  end
  return all
end

-- Places of the due jobs, in the order in which they line up.
local function inLine()
  local all = {}
  if areInOrder then
    for _, run in pairs(runs) do
      all = #all == 0 and run or merged(all, run)
    end
  else
    for at = 1, count do
      all[at] = at
    end
    table.sort(all, isEarlier)
  end
  return all
end

local function timeOf(score) return math.max(0, math.floor(score * 1000000 + 0.5)) end

-- When a lane's first scheduled jobs are due (us): one time for all, mostly, or by their place.
local function dueTimes(scheduled, count)
  local first = redis.call('ZRANGE', scheduled, 0, 0, 'WITHSCORES')[2]
  if redis.call('ZRANGE', scheduled, count - 1, count - 1, 'WITHSCORES')[2] == first then return timeOf(first) end
  local all = redis.call('ZRANGE', scheduled, 0, count - 1, 'WITHSCORES')
  return nil, function(at) return timeOf(all[2 * at]) end
end

-- Brings due jobs in their order into a lane where jobs take turns.
local function enterDue(act, found)
  local us, jobs = Keys.nowUs(), {}
  for at, id in ipairs(found) do
    local job = Keys.jobFields(act.lane, id, 'status', 'level')
    if job[1] then
      Arrival.lineUp(Keys.job(act.lane, id), us + at)
      jobs[#jobs + 1] = { id, job[2] }
    end
  end
  Places.enterLine(act, jobs)
end

-- Takes due jobs out of a lane's set; they are its first ones.
local function takeDue(lane, queue, limits)
  local scheduled, act = Keys.queue(lane, 'scheduled'), Places.actOn(lane, queue, now, limits)
  acts[lane] = act
  Keys.assertQueueTypes(lane)
  local found = redis.call('ZRANGEBYSCORE', scheduled, '-inf', now / 1000, 'LIMIT', 0, most)
  local size = #found
  if size == 0 then return end
  local us, usOf = dueTimes(scheduled, size)
  local hasRetries = redis.call('EXISTS', Keys.retries(lane)) == 1
  if not act.limits then addDue(lane, scheduled, found, us, usOf) end
  most = most - size
  redis.call('ZREMRANGEBYRANK', scheduled, 0, size - 1)
  if act.limits then enterDue(act, found) end
  local retries = 0
  if hasRetries then
    retries = redis.call('ZREM', Keys.retries(lane), unpack(found))
    redis.call('ZREMRANGEBYSCORE', Keys.retries(lane), '-inf', now)
    redis.call('ZREMRANGEBYSCORE', Keys.bridged(lane), '-inf', now)
  end
  Books.book(lane, 'promoted', size - retries)
  Books.book(lane, 'requeued', retries)
end

-- Queues the due jobs; returns the number per lane.
local function enqueueDue()
  local line, moved, lastUs = inLine(), {}, -math.huge
  -- As stamp does, for times that are mostly in one millisecond.
  local ms, stampOfMs
  for place = 1, count do
    local at = line[place]
    local us, key, target = dues[at], keys[at], targets[at]
    lastUs = us > lastUs and us or lastUs + 1
    if key then
      local rest = lastUs % 1000
      if lastUs - rest ~= ms then
        ms = lastUs - rest
        stampOfMs = Keys.integer(ms / 1000) .. '.%03d'
      end
      if arrivals[at] then
        call('HSET', key, 'enqueued', format(stampOfMs, rest), 'arrived', arrivals[at])
      else
        call('HSET', key, 'enqueued', format(stampOfMs, rest))
      end
    end
    local size = target.size + 1
    target.size, target[size] = size, ids[at]
  end
  for lane, byLevel in pairs(lined) do
    moved[lane] = 0
    for _, target in pairs(byLevel) do
      moved[lane] = moved[lane] + target.size
    end
    Levels.enqueueLevels(lane, byLevel)
  end
  return moved
end

local sound = {}
-- `heal` reports a lane where another program has put another type in the place of a queue.
local last = 1
while last < #ARGV - 2 and most > 0 do
  last = last + 3
  sound[ARGV[last]] = pcall(takeDue, ARGV[last], ARGV[last + 1], ARGV[last + 2])
end
local moved = enqueueDue()
for at = 4, last, 3 do
  local lane, following = ARGV[at], nil
  local lookAtMs = sound[lane] and Turns.look(lane) or nil
  local act, jobs = acts[lane], 0
  if act then
    act.lined = act.lined + (moved[lane] or 0)
    jobs = Places.endAct(act)
  end
  if sound[lane] then following = redis.call('ZRANGE', Keys.queue(lane, 'scheduled'), 0, 0, 'WITHSCORES')[2] end
  local lookMs = following and tonumber(following) < Turns.far and Fields.due(following) or nil
  if lookAtMs then lookMs = math.min(lookMs or math.huge, lookAtMs) end
  if sound[lane] and Levels.refillLane(lane) then lookMs = math.min(lookMs or math.huge, now + 1000) end
  local next = lookMs and Keys.integer(lookMs) or ''
  if not Keys.isCluster then
    if next == '' then
      redis.call('ZREM', Keys.due, lane)
    else
      redis.call('ZADD', Keys.due, next, lane)
    end
  end
  results[#results + 1] = { jobs, next, lookMs and lookMs <= now and 1 or 0 }
end
for _ = last + 3, #ARGV, 3 do
  results[#results + 1] = { 0, '', 2 }
end
return results
