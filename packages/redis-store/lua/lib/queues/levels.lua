--#include lanes
--#include bands
-- Queues of a lane. A band is one list, next job at the right end. Jobs with levels other than the usual one (8, 5, 2)
-- stand in order of level; the lane's hash counts them as lv<level>, a hint checked at every use. A list has few jobs
-- of a level that others must step over; more wait outside it (aside.lua). This one: several levels in one band.
local function enqueueMixed(lane, level, ids, lower)
  --#include aside
  local band = bandOf(level)
  if level < usual[band] then return enqueueBelow(lane, level, ids) end
  if level > usual[band] then return enqueueAbove(lane, level, ids) end
  local key = queueKey(lane, band)
  local taken = takeLevel(lane, key, level - 1, lower, 'LPOP', 'LPUSH')
  pushAll('LPUSH', key, ids)
  putBelow(lane, key, level - 1, taken)
end

-- Puts ids of one level behind those of the same or a higher level in their band. `below`: see enqueueLevels.
local function enqueueLevel(lane, level, ids, below)
  local band, lower = bandOf(level), 0
  if level == usual[band] then
    lower = below and below[level]
    if lower == nil then lower = redis.call('HGET', metaKey(lane), 'lv' .. level - 1) end
    lower = tonumber(lower or 0)
    if lower <= 0 then
      pushAll('LPUSH', queueKey(lane, band), ids)
      return
    end
  end
  enqueueMixed(lane, level, ids, lower)
end

local function byLevelOf(jobs)
  local byLevel = {}
  for _, job in ipairs(jobs) do
    local level = levelIn(job[2])
    local ids = byLevel[level]
    if ids then
      ids[#ids + 1] = job[1]
    else
      byLevel[level] = { job[1] }
    end
  end
  return byLevel
end

-- Puts the ids of each level, in order of arrival, into the queues of their lane. `below`: how many jobs of the level
-- below each usual one stand there (false: none), if that was read already.
local function enqueueLevels(lane, byLevel, below)
  for level = 9, 1, -1 do
    if byLevel[level] then enqueueLevel(lane, level, byLevel[level], below) end
  end
end

-- Puts jobs ({ id, level as in their hashes }), in order of arrival, into the queues of their lane.
local function enqueue(lane, jobs) enqueueLevels(lane, byLevelOf(jobs)) end

-- Puts ids of one level, the first to be next, before those of the same level in their band.
local function requeueLevel(lane, level, ids)
  --#include aside
  local band = bandOf(level)
  local key, meta, middle = queueKey(lane, band), metaKey(lane), usual[band]
  if level > middle then
    pushAll('RPUSH', key, reversed(ids))
    redis.call('HINCRBY', meta, 'lv' .. level, #ids)
    return
  end
  local other = level == middle and level + 1 or level
  local count = tonumber(redis.call('HGET', meta, 'lv' .. other) or 0)
  if level < middle then
    local taken = count > 0 and takeLevel(lane, key, other, count, 'LPOP', 'LPUSH') or {}
    for at = #ids, 1, -1 do
      taken[#taken + 1] = ids[at]
    end
    putBelow(lane, key, level, taken)
    return
  end
  -- A job that was next stays next where a list is full of a higher level.
  if count > maxAbove then count = 0 end
  local taken = count > 0 and takeLevel(lane, key, other, count, 'RPOP', 'RPUSH') or {}
  pushAll('RPUSH', key, reversed(ids))
  pushAll('RPUSH', key, reversed(taken))
  if count > 0 then redis.call('HSET', meta, 'lv' .. other, #taken) end
end

-- Puts jobs ({ id, level }, the first to be next) back where they were taken from.
local function requeue(lane, jobs)
  for level, ids in pairs(byLevelOf(jobs)) do
    requeueLevel(lane, level, ids)
  end
end

-- Called when few jobs of a level are left in its list.
local function refill(lane, level)
  --#include aside
  refillLevel(lane, level)
end

-- Brings jobs from outside a lane's lists into them; false if there are none.
local function refillLane(lane)
  --#include aside
  if countAside(lane) <= 0 then return false end
  for _, levels in pairs(unusualLevels) do
    for _, level in ipairs(levels) do
      refillLevel(lane, level)
    end
  end
  return true
end

-- Order among the lanes of a queue: higher level first, then the older job, by the microsecond. A whole number below
-- 2^53 until 2055, so that an index holds it exactly.
local function rank(level, enqueuedMs)
  local us = math.floor(enqueuedMs * 1000 + 0.5) - 1.7e15
  -- A native program's time must not count as a level.
  if us < 0 then
    us = 0
  elseif us >= 1e15 then
    us = 1e15 - 1
  end
  return (9 - level) * 1e15 + us
end

-- Arrival of a job that no gateway queued: the first look at its lane that could have seen it. The lane keeps the last
-- id of that time, so that a backlog of such jobs is as old as its first.
local function seenSince(lane, id, now)
  local upTo, since = string.match(redis.call('HGET', metaKey(lane), 'seen') or '', '^(%d+) (%d+)$')
  local number = read.whole(id) or 0
  if upTo and number <= tonumber(upTo) then return tonumber(since) end
  local last = read.whole(redis.pcall('GET', laneKey('uid', lane))) or number
  redis.call('HSET', metaKey(lane), 'seen', integer(last) .. ' ' .. integer(now))
  return now
end

-- The band, rank and level of a lane's next job. Notes the first look at a job that no gateway queued: it must not stay
-- new for ever.
local function headOf(lane, now)
  for _, band in ipairs(bands) do
    local id = redis.call('LINDEX', queueKey(lane, band), -1)
    if id then
      local job = jobFields(lane, id, 'level', 'enqueued', 'status')
      local level, since = job[1] and levelIn(job[1]) or usual[band], read.time(job[2])
      if job[3] and not since then
        since = seenSince(lane, id, now)
        redis.call('HSET', jobKey(lane, id), 'enqueued', integer(since))
      end
      return band, rank(level, since or now), level
    end
  end
  -- Native workers may have taken everything in the lists.
  if refillLane(lane) then return headOf(lane, now) end
end

-- Puts an open, non-empty lane into its queue's hint index, at the rank of its head or earlier.
local function hintReady(queue, lane, now)
  local band, rankOfHead = headOf(lane, now)
  if band and queue ~= '' and openness(lane, now) then redis.call('ZADD', readyKey(queue), 'LT', rankOfHead, lane) end
end
