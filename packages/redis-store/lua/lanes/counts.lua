-- Counts the jobs of lanes.
-- KEYS:
--   1 xg:busy:{lane} of the first: sorted set
-- ARGV:
--   3 extent (sizes: places and workers; totals: retries and counters too; oldest: all): string
--   4 1 if the automatic rule opens lanes to consumers: flag
--   5 and more: lanes: strings
-- Returns one list, packed: per lane a number of figures, then as many of: since when the next job has
-- been queued, or where jobs take turns, since when one has waited (us; 0 where none is or it was not asked for), normal, workers that may get its jobs, running, scheduled,
-- high, low, dead, retrying, expired, submitted, completed, failed, retried, if consumers get its jobs (0 open by rule, 1 open
-- for good, 2 closed by workers, 3 closed by an operator), promoted, requeued, forgotten, 1 if its queue was removed and no
-- job has come since, died, lost, cancelled, deleted, moved, rerun, killed.
local now, size, extent, isAutoOpen, firstLane = Keys.nowMs(), 0, ARGV[3], ARGV[4] == '1', 5
local found = {}
local isOfTotals, withSince = extent ~= 'sizes', extent == 'oldest'
-- The fields of a lane's hash that the extent needs: each costs a walk through the hash.
local fields = {
  'aside',
  'consumers',
  'open',
  'closed',
  'labelled',
  'expired',
  'submitted',
  'completed',
  'failed',
  'retried',
  'promoted',
  'requeued',
  'forgotten',
  'removed',
  'died',
  'lost',
  'cancelled',
  'deleted',
  'moved',
  'rerun',
  'killed',
}
local fieldCount = isOfTotals and #fields or 2

-- Another program may have put another type in the place of a queue.
local function sizeOf(command, key) return tonumber(redis.pcall(command, key)) or 0 end

local function inUs(ms) return math.floor(ms * 1000 + 0.5) end

-- Since when the next job of a band has been queued (us), or 0.
local function sinceIn(lane, key, count)
  if count == 0 or not withSince then return 0 end
  return inUs(Since.sinceOf(lane, redis.call('LINDEX', key, -1), now))
end

local function earlier(one, other)
  if one == 0 or other == 0 then return one + other end
  return math.min(one, other)
end

-- Jobs of unusual levels that wait outside a band's list.
local function sizeAside(lane, upper, lower)
  return redis.call('LLEN', Keys.level(lane, upper)) + redis.call('LLEN', Keys.level(lane, lower))
end

-- Scheduled jobs that wait for a retry. Due ones stand there until they are moved; where a native worker took one, its entry
-- is left.
local function retryingOf(lane, laterKey)
  local key = Keys.retries(lane)
  local later, due = redis.call('ZCOUNT', key, '(' .. now, '+inf'), redis.call('ZCOUNT', key, '-inf', now)
  if due > 0 then due = math.min(due, tonumber(redis.pcall('ZCOUNT', laterKey, '-inf', now / 1000)) or 0) end
  return later + due
end

-- The lane's counters, and what says if it is open. Most of what is 0 is absent.
local function addTotals(lane, workers, meta)
  local state = meta[3] == '1' and 1 or meta[3] and 3 or 0
  local closed, isWorked = tonumber(meta[4] or 0), workers > tonumber(meta[2] or 0)
  if state == 0 and (isWorked or closed > now) then state = 2 end
  for at = 6, 10 do
    found[size + at - 5] = tonumber(meta[at] or 0)
  end
  found[size + 6] = state
  for at = 11, 13 do
    found[size + at - 4] = tonumber(meta[at] or 0)
  end
  found[size + 10] = meta[14] and meta[14] == (redis.call('GET', Keys.of('uid', lane)) or '0') and 1 or 0
  for at = 15, #fields do
    found[size + at - 4] = tonumber(meta[at] or 0)
  end
  size = size + #fields - 4
end

-- Workers that may get the lane's jobs.
local function workersOf(lane, workers, meta)
  local consumers = tonumber(meta[2] or 0)
  if workers == 0 or consumers <= 0 then return workers end
  local open, closed, labelled = meta[3], meta[4], meta[5]
  if not isOfTotals then
    local more = redis.call('HMGET', Keys.meta(lane), 'open', 'closed', 'labelled')
    open, closed, labelled = more[1], more[2], more[3]
  end
  return Lanes.ableWorkers(workers, consumers, tonumber(labelled or 0), Lanes.gateOf(open, closed, now), isAutoOpen)
end

-- The keys of all that the lanes hold, `keysPerLane` each. Most of many lanes are empty, which one question tells.
local keys, keysPerLane, lanesPerPart = {}, 7, 8
for at = firstLane, #ARGV do
  local place = keysPerLane * (at - firstLane)
  keys[place + 1], keys[place + 2], keys[place + 3], keys[place + 4], keys[place + 5], keys[place + 6], keys[place + 7] =
    Keys.placeKeys(ARGV[at])
end

-- How many of the keys of some lanes there are, by their places in ARGV.
local function keysThere(first, last)
  return redis.call('EXISTS', unpack(keys, keysPerLane * (first - firstLane) + 1, keysPerLane * (last - firstLane + 1)))
end

-- Jobs wait outside empty lists where native workers took the others: then the lane is in the index of due ones.
local mayWaitAside = extent ~= 'sizes' or Keys.isCluster or redis.call('EXISTS', Keys.due) == 1

local places = {}
for place, name in ipairs(fields) do
  places[name] = place
end

-- Fields of a lane's hash. Of an empty lane all are read, where all counters are asked for: it has few, and each of those
-- that are asked for by name would be searched for. nil: it has no hash.
local function metaOf(lane, isEmpty)
  if not isEmpty or not isOfTotals then return redis.call('HMGET', Keys.meta(lane), unpack(fields, 1, fieldCount)) end
  local meta, stored = {}, redis.call('HGETALL', Keys.meta(lane))
  if #stored == 0 then return nil end
  for at = 1, #stored, 2 do
    local place = places[stored[at]]
    if place then meta[place] = stored[at + 1] end
  end
  return meta
end

-- Written out, and in one list: tables and calls of functions cost as much as the commands do. `left`: keys that are
-- there.
local function addCounts(lane, at, left)
  local meta = (left > 0 or mayWaitAside) and metaOf(lane, left == 0)
  if not meta then
    size = size + 1
    found[size] = 0
    return
  end
  local normalKey, highKey, lowKey, laterKey, ranKey, lostKey, countKey =
    unpack(keys, keysPerLane * (at - firstLane) + 1, keysPerLane * (at - firstLane + 1))
  local normal, workers, running, scheduled, high, low, dead, since, retrying = 0, 0, 0, 0, 0, 0, 0, 0, 0
  -- Most lanes have few of these keys: once all are found, the rest is not asked for.
  if left > 0 then
    normal = sizeOf('LLEN', normalKey)
    if normal > 0 then
      left, since = left - 1, sinceIn(lane, normalKey, normal)
    end
  end
  if left > 0 then
    workers = sizeOf('GET', countKey)
    if workers ~= 0 then left = left - 1 end
  end
  if left > 0 then
    running = redis.call('ZCARD', ranKey)
    if running > 0 then left = left - 1 end
  end
  if left > 0 then
    scheduled, high, low = sizeOf('ZCARD', laterKey), sizeOf('LLEN', highKey), sizeOf('LLEN', lowKey)
    dead = redis.call('ZCARD', lostKey)
    since = earlier(earlier(since, sinceIn(lane, highKey, high)), sinceIn(lane, lowKey, low))
    if scheduled > 0 then
      -- Jobs that wait for their turn stand there: see turns.lua.
      local waiting = tonumber(redis.pcall('ZCOUNT', laterKey, 5e13, '+inf')) or 0
      scheduled, normal = scheduled - waiting, normal + waiting
      local oldest = waiting > 0 and withSince and Since.oldestInTurns(laterKey)
      if oldest then since = earlier(since, inUs(Since.sinceOf(lane, oldest, now))) end
    end
    if scheduled > 0 and isOfTotals then retrying = retryingOf(lane, laterKey) end
  end
  if meta[1] then
    high, normal, low = high + sizeAside(lane, 9, 7), normal + sizeAside(lane, 6, 4), low + sizeAside(lane, 3, 1)
  end
  local first, able = size, workersOf(lane, workers, meta)
  found[first + 1] = 0
  found[first + 2], found[first + 3], found[first + 4], found[first + 5] = since, normal, able, running
  size = first + 5
  if isOfTotals or meta[1] or scheduled + high + low + dead > 0 then
    found[first + 6], found[first + 7], found[first + 8] = scheduled, high, low
    found[first + 9], found[first + 10] = dead, retrying
    size = first + 10
    if isOfTotals then addTotals(lane, workers, meta) end
  elseif running == 0 and able == 0 then
    size = normal == 0 and first + 1 or first + 3
  end
  found[first + 1] = size - first - 1
end

local last = #ARGV
local there = keysThere(firstLane, last)
if there > 0 and last > firstLane and there < #keys / keysPerLane / 2 then
  for first = firstLane, last, lanesPerPart do
    local lastOfPart = math.min(first + lanesPerPart - 1, last)
    local isEmpty = keysThere(first, lastOfPart) == 0
    for at = first, lastOfPart do
      addCounts(ARGV[at], at, isEmpty and 0 or keysThere(at, at))
    end
  end
else
  for at = firstLane, last do
    addCounts(ARGV[at], at, (there == 0 or last == firstLane) and there or keysThere(at, at))
  end
end
return cmsgpack.pack(found)
