-- Puts back what by-name workers behind a node hold in one lane, and takes away its worker counts.
-- KEYS: xg:busy:{lane}. ARGV: open, close, lane, node, queue (its hint index, empty for none).
-- Returns the number of jobs put back.
--#include keys
--#include levels
local lane, node, now, back = ARGV[3], ARGV[4], nowMs(), {}
local meta, mine = metaKey(lane), 'n' .. ARGV[4] .. '-'
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local key = jobKey(lane, id)
  local job = redis.call('HMGET', key, 'token', 'level')
  if job[1] and string.sub(job[1], 1, #mine) == mine then
    if #back == 0 then needQueues(lane) end
    redis.call('ZREM', KEYS[1], id)
    redis.call('HSET', key, 'status', 'idle', 'enqueued', stamp(nowUs()))
    redis.call('HDEL', key, 'token', 'status:dividend', 'status:divisor')
    back[#back + 1] = { id, job[2] }
  end
end
if #back > 0 then
  enqueue(lane, back)
  hintReady(ARGV[5], lane, now)
  redis.call('PUBLISH', eventsChannel, 'wake\0' .. lane .. '\0' .. #back)
end
local counts = redis.call('HMGET', meta, 'n:' .. node, 'c:' .. node)
local named, consumers = tonumber(counts[1] or 0), tonumber(counts[2] or 0)
if named + consumers > 0 then
  redis.call('HDEL', meta, 'n:' .. node, 'c:' .. node)
  redis.pcall('INCRBY', laneKey('count', lane), -(named + consumers))
  if consumers > 0 then redis.call('HINCRBY', meta, 'consumers', -consumers) end
end
return #back
