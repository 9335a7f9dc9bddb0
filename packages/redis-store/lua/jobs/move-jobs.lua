-- Moves jobs out of a set of a lane: into its queues, to the dead set, or away.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 queue (its hint index, empty for none): string
--   6 set (scheduled, retries, dead): string
--   7 to (queue; when it is due instead: ms; dead; away: see bookTaken in books.lua): string
--   8 dead set's most: integer
--   9 dead seconds: integer, seconds
--   10 and more: ids: strings
-- Returns the ids that stood in the set.
--#include keys
--#include levels
--#include jobs
--#include dead
--#include books
--#include arrival
local lane, node, queue, set, to = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local deadMost, deadSeconds = tonumber(ARGV[8]), tonumber(ARGV[9])
local now, due, moved, back = nowMs(), tonumber(ARGV[7]), {}, {}
assertQueueTypes(lane)

local function take(id)
  if set == 'dead' then return redis.call('ZREM', deadKey(lane), id) == 1 end
  local retrying = redis.call('ZSCORE', retriesKey(lane), id) ~= false
  if retrying ~= (set == 'retries') then return false end
  forgetRetry(lane, id)
  return redis.call('ZREM', queueKey(lane, 'scheduled'), id) == 1
end

for at = 10, #ARGV do
  local id = ARGV[at]
  local key = jobKey(lane, id)
  if take(id) and redis.call('EXISTS', key) == 1 then
    local v = jobFields(lane, id, 'door', 'unique', 'jid', 'wait', 'keep', 'level')
    local job = { id = id, door = v[1], unique = v[2], jid = v[3], waiting = v[4], keep = v[5] }
    if due and due > now then
      redis.call('ZADD', queueKey(lane, 'scheduled'), due / 1000, id)
    elseif due or to == 'queue' then
      redis.call('HSET', key, 'status', 'idle')
      if not due then redis.call('HSET', key, 'rerun', integer(now)) end
      lineUp(key, nowUs())
      redis.call('HDEL', key, 'settled')
      -- The waiters of a dead job are gone: it now runs in the background.
      if set == 'dead' then redis.call('HDEL', key, 'fg') end
      back[#back + 1] = { id, v[6] }
    elseif to == 'dead' then
      buryJob(lane, job, node, now, deadMost, deadSeconds, 'killed')
    else
      finishJob(lane, job, node, 'error', '')
      bookTaken(lane, to, 1)
    end
    moved[#moved + 1] = id
  end
end
if to == 'queue' then book(lane, 'rerun', #back) end
if due and #moved > #back and not isCluster then redis.call('ZADD', dueKey, 'LT', due, lane) end
if #back > 0 then
  enqueue(lane, back)
  redis.call('HDEL', metaKey(lane), 'removed')
  hintReady(queue, lane, now)
  redis.call('PUBLISH', eventsChannel, framed('wake', lane, #back))
end
return moved
