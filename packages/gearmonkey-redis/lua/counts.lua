-- What stands in one lane.
-- KEYS: xg:busy:{lane}. ARGV: open, close, lane.
-- Returns { high, normal, low, running, scheduled, dead, workers, submitted, completed, failed, retried,
-- retrying, expired }.
--#include keys
local lane = ARGV[3]
-- Another program may have put something else in the place of a queue.
local function sizeOf(command, place) return tonumber(redis.pcall(command, queueKey(lane, place))) or 0 end
local done = redis.call('HMGET', metaKey(lane), 'submitted', 'completed', 'failed', 'retried', 'expired')
return {
  sizeOf('LLEN', 'high'), sizeOf('LLEN', 'normal'), sizeOf('LLEN', 'low'),
  redis.call('ZCARD', KEYS[1]),
  sizeOf('ZCARD', 'scheduled'),
  redis.call('ZCARD', deadKey(lane)),
  countedWorkers(lane),
  tonumber(done[1] or 0), tonumber(done[2] or 0), tonumber(done[3] or 0), tonumber(done[4] or 0),
  redis.call('ZCOUNT', retriesKey(lane), nowMs(), '+inf'),
  tonumber(done[5] or 0),
}
