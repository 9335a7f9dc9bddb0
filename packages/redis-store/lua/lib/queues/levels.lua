-- Queues of a lane. A band is one list, next job at the right end. Jobs with levels other than the usual one (8, 5, 2)
-- stand in order of level; the lane's hash counts them as lv<level>, a hint checked at every use. A list has few jobs
-- of a level that others must step over; more wait outside it (aside.lua). This one: several levels in one band.
local function enqueueMixed(lane, level, ids, lower)
  local band = Bands.bandOf(level)
  if level < Bands.usual[band] then return Aside.enqueueBelow(lane, level, ids) end
  if level > Bands.usual[band] then return Aside.enqueueAbove(lane, level, ids) end
  local key = Keys.queue(lane, band)
  local taken = Bands.takeLevel(lane, key, level - 1, lower, 'LPOP', 'LPUSH')
  Bands.pushAll('LPUSH', key, ids)
  Aside.putBelow(lane, key, level - 1, taken)
end

-- Puts ids of one level behind those of the same or a higher level in their band. `below`: see enqueueLevels.
local function enqueueLevel(lane, level, ids, below)
  local band, lower = Bands.bandOf(level), 0
  if level == Bands.usual[band] then
    lower = below and below[level]
    if lower == nil then lower = redis.call('HGET', Keys.meta(lane), 'lv' .. level - 1) end
    lower = tonumber(lower or 0)
    if lower <= 0 then
      Bands.pushAll('LPUSH', Keys.queue(lane, band), ids)
      return
    end
  end
  enqueueMixed(lane, level, ids, lower)
end

local function byLevelOf(jobs)
  local byLevel = {}
  for _, job in ipairs(jobs) do
    local level = Bands.levelIn(job[2])
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
function Levels.enqueueLevels(lane, byLevel, below)
  for level = 9, 1, -1 do
    if byLevel[level] then enqueueLevel(lane, level, byLevel[level], below) end
  end
end

-- Puts jobs ({ id, level as in their hashes }), in order of arrival, into the queues of their lane.
function Levels.enqueue(lane, jobs) Levels.enqueueLevels(lane, byLevelOf(jobs)) end

-- Puts ids of one level, the first to be next, before those of the same level in their band.
local function requeueLevel(lane, level, ids)
  local band = Bands.bandOf(level)
  local key, meta, middle = Keys.queue(lane, band), Keys.meta(lane), Bands.usual[band]
  if level > middle then
    Bands.pushAll('RPUSH', key, Bands.reversed(ids))
    redis.call('HINCRBY', meta, 'lv' .. level, #ids)
    return
  end
  local other = level == middle and level + 1 or level
  local count = tonumber(redis.call('HGET', meta, 'lv' .. other) or 0)
  if level < middle then
    local taken = count > 0 and Bands.takeLevel(lane, key, other, count, 'LPOP', 'LPUSH') or {}
    for at = #ids, 1, -1 do
      taken[#taken + 1] = ids[at]
    end
    Aside.putBelow(lane, key, level, taken)
    return
  end
  -- A job that was next stays next where a list is full of a higher level.
  if count > Aside.maxAbove then count = 0 end
  local taken = count > 0 and Bands.takeLevel(lane, key, other, count, 'RPOP', 'RPUSH') or {}
  Bands.pushAll('RPUSH', key, Bands.reversed(ids))
  Bands.pushAll('RPUSH', key, Bands.reversed(taken))
  if count > 0 then redis.call('HSET', meta, 'lv' .. other, #taken) end
end

-- Puts jobs ({ id, level }, the first to be next) back where they were taken from.
function Levels.requeue(lane, jobs)
  for level, ids in pairs(byLevelOf(jobs)) do
    requeueLevel(lane, level, ids)
  end
end

-- Called when few jobs of a level are left in its list.
function Levels.refill(lane, level) Aside.refillLevel(lane, level) end

-- Brings jobs from outside a lane's lists into them; false if there are none.
function Levels.refillLane(lane)
  if Aside.countAside(lane) <= 0 then return false end
  for _, levels in pairs(Aside.unusualLevels) do
    for _, level in ipairs(levels) do
      Aside.refillLevel(lane, level)
    end
  end
  return true
end

-- Order among the lanes of a queue: higher level first, then the older job, by the microsecond. A whole number below
-- 2^53 until 2055, so that an index holds it exactly.
function Levels.rank(level, enqueuedMs)
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
  local upTo, since = string.match(redis.call('HGET', Keys.meta(lane), 'seen') or '', '^(%d+) (%d+)$')
  local number = Fields.whole(id) or 0
  if upTo and number <= tonumber(upTo) then return tonumber(since) end
  local last = Fields.whole(redis.pcall('GET', Keys.of('uid', lane))) or number
  redis.call('HSET', Keys.meta(lane), 'seen', Keys.integer(last) .. ' ' .. Keys.integer(now))
  return now
end

-- The band, rank and level of a lane's next job. Notes the first look at a job that no gateway queued: it must not stay
-- new for ever.
function Levels.headOf(lane, now)
  for _, band in ipairs(Keys.bands) do
    local id = redis.call('LINDEX', Keys.queue(lane, band), -1)
    if id then
      local job = Keys.jobFields(lane, id, 'level', 'enqueued', 'status')
      local level, since = job[1] and Bands.levelIn(job[1]) or Bands.usual[band], Fields.time(job[2])
      if job[3] and not since then
        since = seenSince(lane, id, now)
        redis.call('HSET', Keys.job(lane, id), 'enqueued', Keys.integer(since))
      end
      return band, Levels.rank(level, since or now), level
    end
  end
  -- Native workers may have taken everything in the lists.
  if Levels.refillLane(lane) then return Levels.headOf(lane, now) end
end

-- Puts an open, non-empty lane into its queue's hint index, at the rank of its head or earlier.
function Levels.hintReady(queue, lane, now)
  local band, rankOfHead = Levels.headOf(lane, now)
  if band and queue ~= '' and Lanes.openness(lane, now) then
    redis.call('ZADD', Keys.ready(queue), 'LT', rankOfHead, lane)
  end
end
