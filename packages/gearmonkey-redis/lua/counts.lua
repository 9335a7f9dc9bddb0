-- What stands in one lane.
-- KEYS: xg:busy:{lane}. ARGV: open, close, lane.
-- Returns { high, normal, low, running, scheduled, dead, workers, submitted, completed, failed, retried,
-- retrying, expired }.
--#include keys
local lane = ARGV[3]
local done = redis.call('HMGET', metaKey(lane), 'submitted', 'completed', 'failed', 'retried', 'expired')
return {
  redis.call('LLEN', queueKey(lane, 'high')),
  redis.call('LLEN', queueKey(lane, 'normal')),
  redis.call('LLEN', queueKey(lane, 'low')),
  redis.call('ZCARD', KEYS[1]),
  redis.call('ZCARD', queueKey(lane, 'scheduled')),
  redis.call('ZCARD', deadKey(lane)),
  tonumber(redis.call('GET', laneKey('count', lane)) or 0) or 0,
  tonumber(done[1] or 0), tonumber(done[2] or 0), tonumber(done[3] or 0), tonumber(done[4] or 0),
  redis.call('ZCOUNT', retriesKey(lane), nowMs(), '+inf'),
  tonumber(done[5] or 0),
}
