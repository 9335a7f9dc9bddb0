-- Counts of lanes.
-- KEYS: xg:busy:{lane} of the first. ARGV: open, close, lanes.
-- Returns per lane { high, normal, low, running, scheduled, dead, workers, submitted, completed, failed, retried,
-- retrying, expired, promoted, requeued, forgotten, 1 if its queue was removed and no job has come since }, which is empty
-- where all of it is 0.
--#include keys
local now, found = nowMs(), {}

local function numberIn(text) return tonumber(text or 0) or 0 end

-- Another program may have put something else in the place of a queue.
local function sizeOf(lane, command, place) return tonumber(redis.pcall(command, queueKey(lane, place))) or 0 end

-- Jobs of levels other than their band's usual one that wait beside its list.
local function sizeAside(lane, upper, lower)
  return redis.call('LLEN', levelKey(lane, upper)) + redis.call('LLEN', levelKey(lane, lower))
end

local function countsOf(lane)
  local done = redis.call('HMGET', metaKey(lane), 'submitted', 'completed', 'failed', 'retried', 'expired', 'promoted',
    'requeued', 'forgotten', 'removed', 'aside')
  local places = redis.call('EXISTS', queueKey(lane, 'high'), queueKey(lane, 'normal'), queueKey(lane, 'low'),
    queueKey(lane, 'scheduled'), busyKey(lane), deadKey(lane), laneKey('count', lane))
  local hasCounted = false
  for at = 1, 10 do hasCounted = hasCounted or done[at] end
  if places == 0 and not hasCounted then return {} end
  local high, normal, low, running, scheduled, dead, workers, retrying = 0, 0, 0, 0, 0, 0, 0, 0
  if places > 0 then
    high, normal, low = sizeOf(lane, 'LLEN', 'high'), sizeOf(lane, 'LLEN', 'normal'), sizeOf(lane, 'LLEN', 'low')
    running, dead, workers = redis.call('ZCARD', busyKey(lane)), redis.call('ZCARD', deadKey(lane)), countedWorkers(lane)
    scheduled = sizeOf(lane, 'ZCARD', 'scheduled')
    if scheduled > 0 then retrying = redis.call('ZCOUNT', retriesKey(lane), now, '+inf') end
  end
  if done[10] then
    high, normal, low = high + sizeAside(lane, 9, 7), normal + sizeAside(lane, 6, 4), low + sizeAside(lane, 3, 1)
  end
  return {
    high, normal, low, running, scheduled, dead, workers,
    numberIn(done[1]), numberIn(done[2]), numberIn(done[3]), numberIn(done[4]), retrying,
    numberIn(done[5]), numberIn(done[6]), numberIn(done[7]), numberIn(done[8]),
    done[9] and done[9] == (redis.call('GET', laneKey('uid', lane)) or '0') and 1 or 0,
  }
end

for at = 3, #ARGV do found[#found + 1] = countsOf(ARGV[at]) end
return found
