-- Moves due jobs of lanes into their queues, the oldest first. They line up by due time, then by arrival. A lane with
-- jobs beside its lists is looked at every second, so that native workers get the next of them.
-- KEYS:
--   1 queue:{lane}:scheduled of the first: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 most: integer
--   4 and more, per lane: lane, queue (hint index, empty for none)
-- Returns per lane { moved, when it is to be looked at again in ms or empty, 1 where more is due, 2 where it had no
-- turn }.
--#include keys
--#include levels
local most, now, results = tonumber(ARGV[3]), nowMs(), {}
-- The due jobs, a list a field, times in us. Keys are false where no gateway queued a job so far.
local lanes, ids, levels, keys, dues, cames = {}, {}, {}, {}, {}, {}
-- Places in these lists by the length of ids. A set has ids of one time as texts, so each of these is mostly in order.
local runs, areInOrder = {}, true

local function isEarlier(one, other)
  if dues[one] ~= dues[other] then return dues[one] < dues[other] end
  if cames[one] ~= cames[other] then return cames[one] < cames[other] end
  return (tonumber(ids[one]) or 0) < (tonumber(ids[other]) or 0)
end

-- Notes a job that is due then (us), if it is still there.
local function addDue(lane, id, dueUs)
  local key, at = jobKey(lane, id), #ids + 1
  local job = redis.pcall('HMGET', key, 'level', 'enqueued')
  local cameUs = (tonumber(job[2] or nil) or 0) * 1000
  if cameUs == 0 then
    job = jobFields(lane, id, 'level', 'status', 'door')
    if not job[2] then return end
    key = job[3] and key
  end
  lanes[at], ids[at], keys[at], cames[at] = lane, id, key, cameUs
  levels[at] = job[1] and levelIn(job[1]) or 5
  -- No job is in line before it came.
  dues[at] = dueUs < cameUs and cameUs or dueUs
  local run = runs[#id]
  if not run then
    runs[#id] = { at }
    return
  end
  if isEarlier(at, run[#run]) then areInOrder = false end
  run[#run + 1] = at
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
    for at = 1, #ids do
      all[at] = at
    end
    table.sort(all, isEarlier)
  end
  return all
end

-- When a lane's first scheduled jobs are due (us), by their place. Mostly in the same second: one time is read for all.
local function dueTimes(scheduled, count)
  local function timeOf(score) return math.floor(score * 1000000 + 0.5) end
  local first = redis.call('ZRANGE', scheduled, 0, 0, 'WITHSCORES')[2]
  if redis.call('ZRANGE', scheduled, count - 1, count - 1, 'WITHSCORES')[2] == first then
    local us = timeOf(first)
    return function() return us end
  end
  local all = redis.call('ZRANGE', scheduled, 0, count - 1, 'WITHSCORES')
  return function(at) return timeOf(all[2 * at]) end
end

-- Takes due jobs out of a lane's set; they are its first ones.
local function takeDue(lane)
  local scheduled = queueKey(lane, 'scheduled')
  assertQueueTypes(lane)
  local found = redis.call('ZRANGEBYSCORE', scheduled, '-inf', now / 1000, 'LIMIT', 0, most)
  local count = #found
  if count == 0 then return end
  local usOf = dueTimes(scheduled, count)
  local hasRetries = redis.call('EXISTS', retriesKey(lane)) == 1
  for at, id in ipairs(found) do
    addDue(lane, id, usOf(at))
  end
  most = most - count
  redis.call('ZREMRANGEBYRANK', scheduled, 0, count - 1)
  local retries = 0
  if hasRetries then
    retries = redis.call('ZREM', retriesKey(lane), unpack(found))
    redis.call('ZREMRANGEBYSCORE', retriesKey(lane), '-inf', now)
    redis.call('ZREMRANGEBYSCORE', bridgedKey(lane), '-inf', now)
  end
  redis.call('HINCRBY', metaKey(lane), 'promoted', count - retries)
  if retries > 0 then redis.call('HINCRBY', metaKey(lane), 'requeued', retries) end
  redis.call('HDEL', metaKey(lane), 'removed')
end

-- The same as stamp, for times that are mostly near each other.
local msOfStamp, stampOfMs
local function stampNear(us)
  local ms = math.floor(us / 1000)
  if ms ~= msOfStamp then
    msOfStamp, stampOfMs = ms, integer(ms) .. '.%03d'
  end
  return string.format(stampOfMs, us - ms * 1000)
end

-- Queues the due jobs; returns the number per lane.
local function enqueueDue()
  local byLane, moved, lastUs = {}, {}, -math.huge
  for _, at in ipairs(inLine()) do
    local lane, level, us = lanes[at], levels[at], dues[at]
    lastUs = us > lastUs and us or lastUs + 1
    if keys[at] then redis.call('HSET', keys[at], 'enqueued', stampNear(lastUs)) end
    local byLevel = byLane[lane]
    if not byLevel then
      byLevel = {}
      byLane[lane], moved[lane] = byLevel, 0
    end
    local same = byLevel[level]
    if same then
      same[#same + 1] = ids[at]
    else
      byLevel[level] = { ids[at] }
    end
    moved[lane] = moved[lane] + 1
  end
  for lane, byLevel in pairs(byLane) do
    enqueueLevels(lane, byLevel)
  end
  return moved
end

local sound = {}
-- `heal` reports a lane where another program has put another type in the place of a queue.
local last = 2
while last < #ARGV - 1 and most > 0 do
  last = last + 2
  sound[ARGV[last]] = pcall(takeDue, ARGV[last])
end
local moved = enqueueDue()
for at = 4, last, 2 do
  local lane, queue = ARGV[at], ARGV[at + 1]
  local jobs, following = moved[lane] or 0, nil
  if jobs > 0 then
    hintReady(queue, lane, now)
    redis.call('PUBLISH', eventsChannel, 'wake\0' .. lane .. '\0' .. jobs)
  end
  if sound[lane] then following = redis.call('ZRANGE', queueKey(lane, 'scheduled'), 0, 0, 'WITHSCORES')[2] end
  local lookMs = following and math.ceil(tonumber(following) * 1000)
  if sound[lane] and refillLane(lane) then lookMs = math.min(lookMs or math.huge, now + 1000) end
  local next = lookMs and integer(lookMs) or ''
  if not isCluster then
    if next == '' then
      redis.call('ZREM', dueKey, lane)
    else
      redis.call('ZADD', dueKey, next, lane)
    end
  end
  results[#results + 1] = { jobs, next, lookMs and lookMs <= now and 1 or 0 }
end
for _ = last + 2, #ARGV, 2 do
  results[#results + 1] = { 0, '', 2 }
end
return results
