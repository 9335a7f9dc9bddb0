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
local most, now, results, due = tonumber(ARGV[3]), nowMs(), {}, {}

-- A job's level, when it came (us), and its key, which is false where no gateway queued it so far. Nothing if it is gone.
local function dueJob(lane, id)
  local key = jobKey(lane, id)
  local job = redis.pcall('HMGET', key, 'level', 'enqueued')
  local cameMs = tonumber(job[2] or nil)
  if cameMs then return levelIn(job[1]), cameMs * 1000, key end
  job = jobFields(lane, id, 'status', 'level', 'door')
  if job[1] then return levelIn(job[2]), 0, job[3] and key end
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
    local level, cameUs, key = dueJob(lane, id)
    if level then
      local dueUs = usOf(at)
      -- No job is in line before it came.
      due[#due + 1] = { lane, id, level, key, dueUs < cameUs and cameUs or dueUs, cameUs }
    end
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

local function isEarlier(one, other)
  if one[5] ~= other[5] then return one[5] < other[5] end
  if one[6] ~= other[6] then return one[6] < other[6] end
  return (tonumber(one[2]) or 0) < (tonumber(other[2]) or 0)
end

-- Mostly true for jobs of one lane whose ids have the same number of digits.
local function isInOrder()
  for at = 2, #due do
    if isEarlier(due[at], due[at - 1]) then return false end
  end
  return true
end

-- The same as stamp, for times that are mostly near each other.
local secondOfStamp, stampOfSecond
local function stampNear(us)
  local second = math.floor(us / 1e6)
  if second ~= secondOfStamp then secondOfStamp, stampOfSecond = second, integer(second) end
  local rest = us - second * 1e6
  return stampOfSecond .. string.format('%03d.%03d', rest / 1e3, rest % 1e3)
end

-- Queues the due jobs; returns the number per lane.
local function enqueueDue()
  if not isInOrder() then table.sort(due, isEarlier) end
  local byLane, moved, lastUs = {}, {}, -math.huge
  for _, job in ipairs(due) do
    local lane, id, level, us = job[1], job[2], job[3], job[5]
    lastUs = us > lastUs and us or lastUs + 1
    if job[4] then redis.call('HSET', job[4], 'enqueued', stampNear(lastUs)) end
    local levels = byLane[lane]
    if not levels then
      levels = {}
      byLane[lane], moved[lane] = levels, 0
    end
    local ids = levels[level]
    if ids then ids[#ids + 1] = id else levels[level] = { id } end
    moved[lane] = moved[lane] + 1
  end
  for lane, levels in pairs(byLane) do enqueueLevels(lane, levels) end
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
    if next == '' then redis.call('ZREM', dueKey, lane) else redis.call('ZADD', dueKey, next, lane) end
  end
  results[#results + 1] = { jobs, next, lookMs and lookMs <= now and 1 or 0 }
end
for _ = last + 2, #ARGV, 2 do results[#results + 1] = { 0, '', 2 } end
return results
