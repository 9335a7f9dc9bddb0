-- Moves due jobs of lanes from their scheduled sets into their queues, of each lane the oldest first. In the line of
-- their queue they stand by when they were due, and those that were due at once by when they came.
-- KEYS: queue:{lane}:scheduled of the first. ARGV: open, close, most, then per lane: lane, queue (hint
-- index, empty for none).
-- Where jobs wait beside a lane's lists, native workers are to have the next of them: it is looked at every second.
-- Returns per lane { moved, when it is to be looked at again in ms or empty }.
--#include keys
--#include levels
local most, now, results, due = tonumber(ARGV[3]), nowMs(), {}, {}

-- Takes what is due out of a lane's set.
local function takeDue(lane)
  local scheduled = queueKey(lane, 'scheduled')
  needQueues(lane)
  local found = redis.call('ZRANGEBYSCORE', scheduled, '-inf', now / 1000, 'WITHSCORES', 'LIMIT', 0, most)
  if #found == 0 then return end
  local ids = {}
  for at = 1, #found, 2 do
    local id = found[at]
    ids[#ids + 1] = id
    local job = jobFields(lane, id, 'status', 'level', 'door', 'enqueued')
    if job[1] then
      -- No job is in line before it came.
      local cameUs = (tonumber(job[4] or 0) or 0) * 1000
      local dueUs = math.max(math.floor(tonumber(found[at + 1]) * 1000000 + 0.5), cameUs)
      due[#due + 1] = { lane = lane, id = id, level = job[2], door = job[3], dueUs = dueUs, cameUs = cameUs }
    end
  end
  most = most - #ids
  redis.call('ZREM', scheduled, unpack(ids))
  local retries = 0
  if redis.call('EXISTS', retriesKey(lane)) == 1 then
    retries = redis.call('ZREM', retriesKey(lane), unpack(ids))
    redis.call('ZREMRANGEBYSCORE', retriesKey(lane), '-inf', now)
    redis.call('ZREMRANGEBYSCORE', bridgedKey(lane), '-inf', now)
  end
  redis.call('HINCRBY', metaKey(lane), 'promoted', #ids - retries)
  if retries > 0 then redis.call('HINCRBY', metaKey(lane), 'requeued', retries) end
  redis.call('HDEL', metaKey(lane), 'removed')
end

local function isEarlier(one, other)
  if one.dueUs ~= other.dueUs then return one.dueUs < other.dueUs end
  if one.cameUs ~= other.cameUs then return one.cameUs < other.cameUs end
  return (tonumber(one.id) or 0) < (tonumber(other.id) or 0)
end

-- Puts what was due into the queues; returns how many jobs each lane got.
local function enqueueDue()
  table.sort(due, isEarlier)
  local byLane, moved, lastUs = {}, {}, -math.huge
  for _, job in ipairs(due) do
    lastUs = math.max(job.dueUs, lastUs + 1)
    if job.door then redis.call('HSET', jobKey(job.lane, job.id), 'enqueued', stamp(lastUs)) end
    local jobs = byLane[job.lane] or {}
    byLane[job.lane] = jobs
    jobs[#jobs + 1] = { job.id, job.level }
  end
  for lane, jobs in pairs(byLane) do
    enqueue(lane, jobs)
    moved[lane] = #jobs
  end
  return moved
end

local sound = {}
-- Where another program has put something else in the place of a queue, `heal` tells of it.
for at = 4, #ARGV, 2 do sound[ARGV[at]] = pcall(takeDue, ARGV[at]) end
local moved = enqueueDue()
for at = 4, #ARGV, 2 do
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
  results[#results + 1] = { jobs, next }
end
return results
