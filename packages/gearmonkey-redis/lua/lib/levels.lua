--#include lanes
-- Queues of a lane. A band is one list, next job at the right end. Where its jobs have levels other
-- than the usual one (8, 5, 2) they stand in the order of their levels; the lane's hash counts them
-- as lv<level>, a hint that is checked against the list whenever it is used.
local usual = { high = 8, normal = 5, low = 2 }

local function bandOf(level)
  if level >= 7 then return 'high' elseif level >= 4 then return 'normal' end
  return 'low'
end

-- The level that a job's hash says. Another program may have a field of that name for something else.
local function levelIn(text) return tonumber(text and string.match(text, '^[1-9]$') or 5) end

local function levelOf(lane, id) return levelIn(jobFields(lane, id, 'level')[1]) end

local function pushAll(command, key, ids)
  for first = 1, #ids, 1000 do
    redis.call(command, key, unpack(ids, first, math.min(first + 999, #ids)))
  end
end

local function reversed(ids)
  local turned = {}
  for at = #ids, 1, -1 do turned[#turned + 1] = ids[at] end
  return turned
end

-- Takes the `count` jobs at one end that the hint says are of `level`, and puts back what is not.
-- Jobs that native clients pushed may stand among them, which the hint does not count: as long as few
-- follow each other it takes them along.
local function takeLevel(lane, key, level, count, pop, push)
  local ids = redis.call(pop, key, count) or {}
  local last, strangers = pop == 'LPOP' and 0 or -1, 0
  while strangers < 32 do
    local id = redis.call('LINDEX', key, last)
    if not id then break end
    local job = jobFields(lane, id, 'level', 'door')
    if levelIn(job[1]) == level then strangers = 0
    elseif job[2] then break
    else strangers = strangers + 1 end
    ids[#ids + 1] = redis.call(pop, key)
  end
  while #ids > 0 and levelOf(lane, ids[#ids]) ~= level do
    redis.call(push, key, table.remove(ids))
  end
  return ids
end

-- Puts ids of one level behind those of the same or a higher level in their band.
local function enqueueLevel(lane, level, ids)
  local band = bandOf(level)
  local key, meta, middle = queueKey(lane, band), metaKey(lane), usual[band]
  if level == middle then
    local lower = tonumber(redis.call('HGET', meta, 'lv' .. level - 1) or 0)
    if lower <= 0 then
      pushAll('LPUSH', key, ids)
      return
    end
    local taken = takeLevel(lane, key, level - 1, lower, 'LPOP', 'LPUSH')
    pushAll('LPUSH', key, ids)
    pushAll('LPUSH', key, reversed(taken))
    redis.call('HSET', meta, 'lv' .. level - 1, #taken)
    return
  end
  if level < middle then
    pushAll('LPUSH', key, ids)
    redis.call('HINCRBY', meta, 'lv' .. level, #ids)
    return
  end
  -- Nothing to step over where the last in line is of this level: all high jobs at 9, say.
  local back = redis.call('LINDEX', key, 0)
  if back and levelOf(lane, back) == level then
    pushAll('LPUSH', key, ids)
    redis.call('HINCRBY', meta, 'lv' .. level, #ids)
    return
  end
  local upper = tonumber(redis.call('HGET', meta, 'lv' .. level) or 0)
  local taken = upper > 0 and takeLevel(lane, key, level, upper, 'RPOP', 'RPUSH') or {}
  pushAll('RPUSH', key, reversed(ids))
  pushAll('RPUSH', key, reversed(taken))
  redis.call('HSET', meta, 'lv' .. level, #taken + #ids)
end

local function byLevelOf(jobs)
  local byLevel = {}
  for _, job in ipairs(jobs) do
    local level = levelIn(job[2])
    local ids = byLevel[level]
    if ids then ids[#ids + 1] = job[1] else byLevel[level] = { job[1] } end
  end
  return byLevel
end

-- Puts the ids of each level, in order of arrival, into the queues of their lane.
local function enqueueLevels(lane, byLevel)
  for level = 9, 1, -1 do
    if byLevel[level] then enqueueLevel(lane, level, byLevel[level]) end
  end
end

-- The same for jobs ({ id, level as their hashes say it }).
local function enqueue(lane, jobs) enqueueLevels(lane, byLevelOf(jobs)) end

-- Puts ids of one level, the first to be next, before those of the same level in their band.
local function requeueLevel(lane, level, ids)
  local band = bandOf(level)
  local key, meta, middle = queueKey(lane, band), metaKey(lane), usual[band]
  if level > middle then
    pushAll('RPUSH', key, reversed(ids))
    redis.call('HINCRBY', meta, 'lv' .. level, #ids)
    return
  end
  local other = level == middle and level + 1 or level
  local count = tonumber(redis.call('HGET', meta, 'lv' .. other) or 0)
  local pop, push = 'RPOP', 'RPUSH'
  if level < middle then pop, push = 'LPOP', 'LPUSH' end
  local taken = count > 0 and takeLevel(lane, key, other, count, pop, push) or {}
  pushAll(push, key, level == middle and reversed(ids) or ids)
  pushAll(push, key, reversed(taken))
  if level < middle then
    redis.call('HSET', meta, 'lv' .. level, #taken + #ids)
  elseif count > 0 then
    redis.call('HSET', meta, 'lv' .. other, #taken)
  end
end

-- Puts jobs ({ id, level }, the first to be next) back where they were taken from.
local function requeue(lane, jobs)
  for level, ids in pairs(byLevelOf(jobs)) do requeueLevel(lane, level, ids) end
end

-- A job of this level has left its list.
local function tookLevel(lane, text)
  local level = levelIn(text)
  if level == usual[bandOf(level)] then return end
  if redis.call('HINCRBY', metaKey(lane), 'lv' .. level, -1) <= 0 then
    redis.call('HDEL', metaKey(lane), 'lv' .. level)
  end
end

-- Order among the lanes of a queue: the higher level first, then the older job, by the microsecond. A whole number
-- below 2^53 until 2055, so that an index holds it exactly.
local function rank(level, enqueuedMs) return (9 - level) * 1e15 + math.floor(enqueuedMs * 1000 + 0.5) - 1.7e15 end

-- Since when a job that no gateway queued has stood in line: the first look at its lane that could have met it. The
-- lane keeps the last id of that time, so that a backlog of such jobs is as old as its first.
local function seenSince(lane, id, now)
  local upTo, since = string.match(redis.call('HGET', metaKey(lane), 'seen') or '', '^(%d+) (%d+)$')
  if upTo and (tonumber(id) or 0) <= tonumber(upTo) then return tonumber(since) end
  local last = tonumber(redis.pcall('GET', laneKey('uid', lane))) or tonumber(id) or 0
  redis.call('HSET', metaKey(lane), 'seen', integer(last) .. ' ' .. integer(now))
  return now
end

-- The band, rank and level of the next job of a lane. When a job that no gateway queued was first seen is noted: it must not
-- be new for ever.
local function headOf(lane, now)
  for _, band in ipairs({ 'high', 'normal', 'low' }) do
    local id = redis.call('LINDEX', queueKey(lane, band), -1)
    if id then
      local job = jobFields(lane, id, 'level', 'enqueued', 'status')
      local level, since = job[1] and levelIn(job[1]) or usual[band], tonumber(job[2] or now) or now
      if job[3] and not job[2] then
        since = seenSince(lane, id, now)
        redis.call('HSET', jobKey(lane, id), 'enqueued', integer(since))
      end
      return band, rank(level, since), level
    end
  end
end

-- Puts a lane that is not empty and open to consumers into its queue's hint index, at the rank of its head or earlier.
local function hintReady(queue, lane, now)
  local band, rankOfHead = headOf(lane, now)
  if band and queue ~= '' and openness(lane, now) then redis.call('ZADD', readyKey(queue), 'LT', rankOfHead, lane) end
end
