-- Counts the jobs of lanes.
-- KEYS:
--   1 xg:busy:{lane} of the first: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 1 to look at the next jobs: flag
--   4 and more: lanes: strings
-- Returns per lane { high, normal, low, running, scheduled, dead, workers, submitted, completed, failed, retried,
-- retrying, expired, promoted, requeued, forgotten, 1 if its queue was removed and no job has come since, if consumers
-- get its jobs (0 open by rule, 1 open for good, 2 closed by workers, 3 closed by an operator), since when the next job
-- has been queued (ms; empty where none is or it was not asked for) }, which is empty where all of it is 0.
--#include keys
--#include lanes
local now, found, withSince = nowMs(), {}, ARGV[3] == '1'

local function numberIn(text) return tonumber(text or 0) or 0 end

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
  return oldest
end

local stateNumbers = { auto = 0, open = 1 }

local function countsOf(lane)
  local done = redis.call('HMGET', metaKey(lane), 'submitted', 'completed', 'failed', 'retried', 'expired', 'promoted',
    'requeued', 'forgotten', 'removed', 'aside', 'open', 'closed', 'consumers')
  local places = redis.call('EXISTS', queueKey(lane, 'high'), queueKey(lane, 'normal'), queueKey(lane, 'low'),
    queueKey(lane, 'scheduled'), busyKey(lane), deadKey(lane), laneKey('count', lane))
  local hasCounted = false
  for at = 1, 12 do hasCounted = hasCounted or done[at] end
  if places == 0 and not hasCounted then return {} end
  -- Most lanes have few of these keys: once all are found, the rest is not asked for.
  local function met(size)
    if size ~= 0 then places = places - 1 end
    return size
  end
  local high, normal, low, running, scheduled, dead, workers, retrying = 0, 0, 0, 0, 0, 0, 0, 0
  if places > 0 then normal = met(sizeOf(lane, 'LLEN', 'normal')) end
  if places > 0 then workers = met(countedWorkers(lane)) end
  if places > 0 then running = met(redis.call('ZCARD', busyKey(lane))) end
  if places > 0 then scheduled = met(sizeOf(lane, 'ZCARD', 'scheduled')) end
  if places > 0 then dead = met(redis.call('ZCARD', deadKey(lane))) end
  if places > 0 then high = met(sizeOf(lane, 'LLEN', 'high')) end
  if places > 0 then low = met(sizeOf(lane, 'LLEN', 'low')) end
  if scheduled > 0 then retrying = redis.call('ZCOUNT', retriesKey(lane), now, '+inf') end
  local since = withSince and sinceOf(lane, { high = high, normal = normal, low = low })
  if done[10] then
    high, normal, low = high + sizeAside(lane, 9, 7), normal + sizeAside(lane, 6, 4), low + sizeAside(lane, 3, 1)
  end
  local state = opennessOf(lane, done[11], done[12], done[13], now)
  return {
    high, normal, low, running, scheduled, dead, workers,
    numberIn(done[1]), numberIn(done[2]), numberIn(done[3]), numberIn(done[4]), retrying,
    numberIn(done[5]), numberIn(done[6]), numberIn(done[7]), numberIn(done[8]),
    done[9] and done[9] == (redis.call('GET', laneKey('uid', lane)) or '0') and 1 or 0,
    stateNumbers[state] or (done[11] and 3 or 2), since and stamp(since * 1000) or '',
  }
end

for at = 4, #ARGV do found[#found + 1] = countsOf(ARGV[at]) end
return found
