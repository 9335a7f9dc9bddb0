-- Counts the jobs of lanes.
-- KEYS:
--   1 xg:busy:{lane} of the first: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 extent (sizes: places and workers; backlog: the next jobs, retries and expired jobs too; totals: counters, without
--     the next jobs; oldest: all): string
--   4 likely: string, a byte for each lane: places that may be there (1 normal, 2 workers, 4 running, 8 scheduled, 16 high,
--     32 low, 64 dead). Only the cost depends on it
--   5 and more: lanes: strings
-- Returns one list, packed: the time (ms), and per lane a number of figures, then as many of: since when the next job has
-- been queued (us; 0 where none is or it was not asked for), normal, workers, running, scheduled, high, low, dead, retrying,
-- expired, submitted, completed, failed, retried, if consumers get its jobs (0 open by rule, 1 open for good, 2 closed by
-- workers, 3 closed by an operator), promoted, requeued, forgotten, 1 if its queue was removed and no job has come since,
-- until when workers that left close it (ms, 0 otherwise).
--#include keys
--#include lanes
local now, size, extent, likely = nowMs(), 1, ARGV[3], ARGV[4]
local call, pcall = redis.call, redis.pcall
local found = { now }
local withSince, isOfTotals = extent == 'backlog' or extent == 'oldest', extent == 'totals' or extent == 'oldest'
-- The fields of a lane's hash that the extent needs: each costs a walk through the hash.
local fields = {
  'aside',
  'expired',
  'open',
  'closed',
  'consumers',
  'submitted',
  'completed',
  'failed',
  'retried',
  'promoted',
  'requeued',
  'forgotten',
  'removed',
}
local fieldCount = isOfTotals and #fields or extent == 'backlog' and 2 or 1

-- Another program may have put another type in the place of a queue.
local function sizeOf(command, key) return tonumber(pcall(command, key)) or 0 end

-- Since when the next job of a band has been queued (us), or 0.
local function sinceOf(lane, key, count)
  if count == 0 or not withSince then return 0 end
  local enqueued = pcall('HGET', jobKey(lane, call('LINDEX', key, -1)), 'enqueued')
  return math.floor((tonumber(enqueued) or now) * 1000 + 0.5)
end

local function earlier(one, other)
  if one == 0 or other == 0 then return one + other end
  return math.min(one, other)
end

-- Jobs of unusual levels that wait beside a band's list.
local function sizeAside(lane, upper, lower)
  return call('LLEN', levelKey(lane, upper)) + call('LLEN', levelKey(lane, lower))
end

-- The lane's counters, and what says if it is open. Most of what is 0 is absent.
local function addTotals(lane, workers, meta)
  local state = meta[3] == '1' and 1 or meta[3] and 3 or 0
  local closed, isWorked = tonumber(meta[4] or 0), workers > tonumber(meta[5] or 0)
  local isLeft = state == 0 and not isWorked and closed > now
  if state == 0 and (isWorked or isLeft) then state = 2 end
  for at = 6, 9 do
    found[size + at - 5] = tonumber(meta[at] or 0)
  end
  found[size + 5] = state
  for at = 10, 12 do
    found[size + at - 4] = tonumber(meta[at] or 0)
  end
  found[size + 9] = meta[13] and meta[13] == (call('GET', laneKey('uid', lane)) or '0') and 1 or 0
  found[size + 10] = isLeft and closed or 0
  size = size + 10
end

-- The keys of all that the lanes hold, `keysPerLane` each; of these the unlikely ones, and which of them is a lane's first.
local keys, keysPerLane, lanesPerPart, first, last = {}, 7, 8, 5, #ARGV
local unlikely, firstUnlikely, unlikelyCount = {}, {}, 0

-- By the byte of `likely`: which places are likely, and the others.
local isLikely, others = {}, {}
local function learn(mask)
  local is, rest = {}, {}
  for place = 1, keysPerLane do
    is[place] = bit.band(mask, 2 ^ (place - 1)) > 0
    if not is[place] then rest[#rest + 1] = place end
  end
  isLikely[mask], others[mask] = is, rest
  return rest
end

for at = first, last do
  local before, mask = keysPerLane * (at - first), string.byte(likely, at - first + 1)
  keys[before + 1], keys[before + 5], keys[before + 6], keys[before + 4], keys[before + 3], keys[before + 7], keys[before + 2] =
    placeKeys(ARGV[at])
  local rest = others[mask] or learn(mask)
  firstUnlikely[at] = unlikelyCount + 1
  for place = 1, #rest do
    unlikely[unlikelyCount + place] = keys[before + rest[place]]
  end
  unlikelyCount = unlikelyCount + #rest
end
firstUnlikely[last + 1] = unlikelyCount + 1

-- How many of the unlikely keys of some lanes there are, by their places in ARGV.
local function surprises(from, to)
  local one, other = firstUnlikely[from], firstUnlikely[to + 1] - 1
  return one > other and 0 or call('EXISTS', unpack(unlikely, one, other))
end

-- Jobs wait beside empty lists where native workers took the others: then the lane is in the index of due ones.
local mayWaitAside = extent ~= 'sizes' or isCluster or call('EXISTS', dueKey) == 1

local places = {}
for place, name in ipairs(fields) do
  places[name] = place
end

-- Fields of a lane's hash. Of an empty lane all are read, where all counters are asked for: it has few, and each of those
-- that are asked for by name would be searched for. nil: it has no hash.
local function metaOf(lane, isEmpty)
  if not isEmpty or not isOfTotals then return call('HMGET', metaKey(lane), unpack(fields, 1, fieldCount)) end
  local meta, stored = {}, call('HGETALL', metaKey(lane))
  if #stored == 0 then return nil end
  for at = 1, #stored, 2 do
    local place = places[stored[at]]
    if place then meta[place] = stored[at + 1] end
  end
  return meta
end

-- Written out, and in one list: tables and calls of functions cost as much as the commands do. `is`: the places that may
-- be there. `left`: how many of them are, at most.
local function addCounts(lane, at, is, left)
  local meta = (left > 0 or mayWaitAside) and metaOf(lane, left == 0)
  if not meta then
    size = size + 1
    found[size] = 0
    return
  end
  local before = keysPerLane * (at - first)
  local normal, workers, running, scheduled, high, low, dead, since, retrying = 0, 0, 0, 0, 0, 0, 0, 0, 0
  -- Once all are found, the rest is not asked for.
  if left > 0 and is[1] then
    normal = sizeOf('LLEN', keys[before + 1])
    if normal > 0 then
      left, since = left - 1, sinceOf(lane, keys[before + 1], normal)
    end
  end
  if left > 0 and is[2] then
    workers = sizeOf('GET', keys[before + 2])
    if workers ~= 0 then left = left - 1 end
  end
  if left > 0 and is[3] then
    running = call('ZCARD', keys[before + 3])
    if running > 0 then left = left - 1 end
  end
  if left > 0 then
    if is[4] then scheduled = sizeOf('ZCARD', keys[before + 4]) end
    if is[5] then
      high = sizeOf('LLEN', keys[before + 5])
      since = earlier(since, sinceOf(lane, keys[before + 5], high))
    end
    if is[6] then
      low = sizeOf('LLEN', keys[before + 6])
      since = earlier(since, sinceOf(lane, keys[before + 6], low))
    end
    if is[7] then dead = call('ZCARD', keys[before + 7]) end
    if scheduled > 0 and fieldCount > 1 then retrying = call('ZCOUNT', retriesKey(lane), now, '+inf') end
  end
  if meta[1] then
    high, normal, low = high + sizeAside(lane, 9, 7), normal + sizeAside(lane, 6, 4), low + sizeAside(lane, 3, 1)
  end
  local start, expired = size, tonumber(meta[2] or 0)
  found[start + 1] = 0
  found[start + 2], found[start + 3], found[start + 4], found[start + 5] = since, normal, workers, running
  size = start + 5
  if isOfTotals or scheduled + high + low + dead + expired > 0 then
    found[start + 6], found[start + 7], found[start + 8] = scheduled, high, low
    found[start + 9], found[start + 10], found[start + 11] = dead, retrying, expired
    size = start + 11
    if isOfTotals then addTotals(lane, workers, meta) end
  elseif running == 0 and workers == 0 then
    size = normal == 0 and start + 1 or start + 3
  end
  found[start + 1] = size - start - 1
end

-- Of a lane without surprises only the likely places are looked at.
local function addLikely(at)
  local mask = string.byte(likely, at - first + 1)
  addCounts(ARGV[at], at, isLikely[mask], keysPerLane - #others[mask])
end

-- Of a lane with a surprise all places may be there: how many are is asked first, since most lanes have few.
learn(2 ^ keysPerLane - 1)
local isAny = isLikely[2 ^ keysPerLane - 1]
local function addSurprising(at)
  local before = keysPerLane * (at - first)
  addCounts(ARGV[at], at, isAny, call('EXISTS', unpack(keys, before + 1, before + keysPerLane)))
end

local there = surprises(first, last)
local areFew = there < (last - first + 1) / 2
for from = first, last, lanesPerPart do
  local to = math.min(from + lanesPerPart - 1, last)
  local add = (there == 0 or areFew and surprises(from, to) == 0) and addLikely or addSurprising
  for at = from, to do
    add(at)
  end
end
return cmsgpack.pack(found)
