-- Counts the jobs of lanes.
-- KEYS:
--   1 xg:busy:{lane} of the first: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 extent (sizes: places and workers; totals: counters too; oldest: the next jobs too): string
--   4 and more: lanes: strings
-- Returns per lane { since when the next job has been queued (ms; empty where none is or it was not asked for), normal,
-- workers, running, scheduled, high, low, dead, submitted, completed, failed, retried, if consumers get its jobs (0 open
-- by rule, 1 open for good, 2 closed by workers, 3 closed by an operator), retrying, expired, promoted, requeued,
-- forgotten, 1 if its queue was removed and no job has come since }, cut after the last that is not 0.
--#include keys
--#include lanes
local now, found, extent = nowMs(), {}, ARGV[3]
local isOfTotals, withSince = extent ~= 'sizes', extent == 'oldest'

-- Another program may have put another type in the place of a queue.
local function sizeOf(lane, command, place) return tonumber(redis.pcall(command, queueKey(lane, place))) or 0 end

-- Jobs of unusual levels that wait beside a band's list.
local function sizeAside(lane, upper, lower)
  return redis.call('LLEN', levelKey(lane, upper)) + redis.call('LLEN', levelKey(lane, lower))
end

-- Since when the oldest of a lane's next jobs has been queued.
local function sinceOf(lane, sizes)
  local oldest
  for band, size in pairs(sizes) do
    local id = size > 0 and redis.call('LINDEX', queueKey(lane, band), -1)
    if id then
      local since = tonumber(jobFields(lane, id, 'enqueued')[1] or now) or now
      if not oldest or since < oldest then oldest = since end
    end
  end
  return oldest and stamp(oldest * 1000) or ''
end

-- The lane's counters, and what says if it is open. Most of what is 0 is absent.
local function totalsOf(lane, workers, meta)
  local function total(at) return tonumber(meta[at] or 0) or 0 end
  local open, isRemoved = meta[2], 0
  local state = open == '1' and 1 or open and 3 or 0
  if state == 0 and (total(3) > now or workers > total(4)) then state = 2 end
  if meta[13] and meta[13] == (redis.call('GET', laneKey('uid', lane)) or '0') then isRemoved = 1 end
  return total(5), total(6), total(7), total(8), state, total(9), total(10), total(11), total(12), isRemoved
end

local function sizesOf(lane, places)
  -- Most lanes have few of these keys: once all are found, the rest is not asked for.
  local function met(size)
    if size ~= 0 then places = places - 1 end
    return size
  end
  local normal, workers, running, scheduled, dead, high, low = 0, 0, 0, 0, 0, 0, 0
  if places > 0 then normal = met(sizeOf(lane, 'LLEN', 'normal')) end
  if places > 0 then workers = met(countedWorkers(lane)) end
  if places > 0 then running = met(redis.call('ZCARD', busyKey(lane))) end
  if places > 0 then scheduled = met(sizeOf(lane, 'ZCARD', 'scheduled')) end
  if places > 0 then dead = met(redis.call('ZCARD', deadKey(lane))) end
  if places > 0 then high = met(sizeOf(lane, 'LLEN', 'high')) end
  if places > 0 then low = met(sizeOf(lane, 'LLEN', 'low')) end
  return normal, workers, running, scheduled, dead, high, low
end

local function cut(figures)
  local last = #figures
  while figures[last] == 0 or figures[last] == '' do
    figures[last], last = nil, last - 1
  end
  return figures
end

local function countsOf(lane)
  local meta
  if isOfTotals then
    meta = redis.call('HMGET', metaKey(lane), 'aside', 'open', 'closed', 'consumers', 'submitted', 'completed', 'failed',
      'retried', 'expired', 'promoted', 'requeued', 'forgotten', 'removed')
  else
    meta = { redis.call('HGET', metaKey(lane), 'aside') }
  end
  local places = redis.call('EXISTS', queueKey(lane, 'high'), queueKey(lane, 'normal'), queueKey(lane, 'low'),
    queueKey(lane, 'scheduled'), busyKey(lane), deadKey(lane), laneKey('count', lane))
  local normal, workers, running, scheduled, dead, high, low = sizesOf(lane, places)
  local since = withSince and sinceOf(lane, { high = high, normal = normal, low = low }) or ''
  if meta[1] then
    high, normal, low = high + sizeAside(lane, 9, 7), normal + sizeAside(lane, 6, 4), low + sizeAside(lane, 3, 1)
  end
  local figures = { since, normal, workers, running, scheduled, high, low, dead }
  if isOfTotals then
    local retrying = scheduled > 0 and redis.call('ZCOUNT', retriesKey(lane), now, '+inf') or 0
    figures[9], figures[10], figures[11], figures[12], figures[13], figures[15], figures[16], figures[17], figures[18],
      figures[19] = totalsOf(lane, workers, meta)
    figures[14] = retrying
  end
  return cut(figures)
end

for at = 4, #ARGV do found[#found + 1] = countsOf(ARGV[at]) end
return found
