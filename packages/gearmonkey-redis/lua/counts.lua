-- What stands in one lane.
-- KEYS: xg:busy:{lane}. ARGV: open, close, lane.
-- Returns { high, normal, low, running, scheduled, dead, workers, submitted, completed, failed, retried,
-- retrying, expired, promoted, requeued, forgotten, 1 if its queue was removed and no job has come since }.
--#include keys
local lane = ARGV[3]
-- Another program may have put something else in the place of a queue.
local function sizeOf(command, place) return tonumber(redis.pcall(command, queueKey(lane, place))) or 0 end
local done = redis.call('HMGET', metaKey(lane), 'submitted', 'completed', 'failed', 'retried', 'expired', 'promoted',
  'requeued', 'forgotten', 'removed', 'aside')
-- Of levels other than their band's usual one.
local function sizeAside(upper, lower)
  if not done[10] then return 0 end
  return redis.call('LLEN', levelKey(lane, upper)) + redis.call('LLEN', levelKey(lane, lower))
end
return {
  sizeOf('LLEN', 'high') + sizeAside(9, 7), sizeOf('LLEN', 'normal') + sizeAside(6, 4),
  sizeOf('LLEN', 'low') + sizeAside(3, 1),
  redis.call('ZCARD', KEYS[1]),
  sizeOf('ZCARD', 'scheduled'),
  redis.call('ZCARD', deadKey(lane)),
  countedWorkers(lane),
  tonumber(done[1] or 0), tonumber(done[2] or 0), tonumber(done[3] or 0), tonumber(done[4] or 0),
  redis.call('ZCOUNT', retriesKey(lane), nowMs(), '+inf'),
  tonumber(done[5] or 0), tonumber(done[6] or 0), tonumber(done[7] or 0), tonumber(done[8] or 0),
  done[9] and done[9] == (redis.call('GET', laneKey('uid', lane)) or '0') and 1 or 0,
}
