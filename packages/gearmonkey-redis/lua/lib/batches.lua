-- Batches of Faktory jobs, and their callbacks. Needs keys.lua.
--#include levels
-- A batch in which nothing happens for so long is forgotten: 30 days.
local batchSeconds = 2592000

local function touchBatch(bid)
  local key = batchKey(bid)
  redis.call('EXPIRE', key, batchSeconds)
  redis.call('EXPIRE', key .. ':complete', batchSeconds)
  redis.call('EXPIRE', key .. ':success', batchSeconds)
  if isCluster then redis.call('EXPIRE', key .. ':ran', batchSeconds) end
end

-- More jobs for a batch, or fewer; false where it is not known or its success has been told.
local function joinBatch(bid, jobs)
  local key = batchKey(bid)
  local batch = redis.call('HMGET', key, 'created', 'success')
  if not batch[1] or batch[2] then return false end
  redis.call('HINCRBY', key, 'total', jobs)
  redis.call('HINCRBY', key, 'pending', jobs)
  touchBatch(bid)
  return true
end

-- Stores a callback as a job. `words` from `first` on: queue (its hint index, empty for none), level, jid,
-- fields and values of its hash.
local function storeCallback(lane, callback, words, first)
  local queue, level, jid, now = words[first], tonumber(words[first + 1]), words[first + 2], nowMs()
  local id = integer(redis.call('INCR', laneKey('uid', lane)))
  redis.call('HSET', jobKey(lane, id), 'status', 'idle', 'enqueued', integer(now), 'callback', callback,
    unpack(words, first + 3))
  redis.call('HSET', jidKey(lane), jid, id)
  redis.call('PUBLISH', channelOf(lane), 'create:' .. id)
  enqueue(lane, { { id, level } })
  hintReady(queue, lane, now)
  redis.call('HINCRBY', metaKey(lane), 'submitted', 1)
  redis.call('PUBLISH', eventsChannel, 'wake\0' .. lane .. '\0' .. 1)
end

-- Pushes a callback of a batch, once; false where it has none. In a cluster its lane is in another slot:
-- a node pushes it there.
local function pushCallback(bid, what)
  local list, callback = batchKey(bid) .. ':' .. what, bid .. ':' .. what
  local words = redis.call('LRANGE', list, 0, -1)
  if #words == 0 then return false end
  if isCluster then
    redis.call('RPUSH', callbacksKey, callback)
    return true
  end
  redis.call('DEL', list)
  storeCallback(words[1], callback, words, 2)
  return true
end

local settleBatch

-- A batch is complete or successful, its callback included: one thing less for its parent to wait for.
local function reached(bid, what)
  redis.call('HSET', batchKey(bid), what, 2)
  local parent = redis.call('HGET', batchKey(bid), 'parent')
  if not parent or redis.call('EXISTS', batchKey(parent)) == 0 then return end
  redis.call('HINCRBY', batchKey(parent), 'un' .. what, -1)
  touchBatch(parent)
  settleBatch(parent)
end

local function tell(bid, what)
  redis.call('HSET', batchKey(bid), what, 1)
  if not pushCallback(bid, what) then reached(bid, what) end
end

-- Looks whether a committed batch is complete (each job has run, each child is complete) or successful (no
-- job has failed for now, each child was successful), and tells it once. Fields `complete` and `success`:
-- 1 the callback is pushed, 2 it is done or there is none.
settleBatch = function(bid)
  local v = redis.call('HMGET', batchKey(bid), 'committed', 'pending', 'failed', 'uncomplete', 'unsuccess',
    'complete', 'success')
  if v[1] ~= '1' or tonumber(v[2]) > 0 then return end
  if not v[6] then
    if tonumber(v[4]) > 0 then return end
    tell(bid, 'complete')
  end
  if not v[7] and tonumber(v[3]) == 0 and tonumber(v[5]) == 0 then tell(bid, 'success') end
end

local function callbackDone(callback)
  local bid, what = string.match(callback, '^(.*):(%a+)$')
  if redis.call('HGET', batchKey(bid), what) ~= '1' then return end
  touchBatch(bid)
  reached(bid, what)
end

-- A job of a batch has run or is no more. A job that ran counts as failed until it succeeds.
local function ranInBatch(bid, key, ranBefore, failed)
  local batch = batchKey(bid)
  if redis.call('EXISTS', batch) == 0 then return end
  if not ranBefore then
    redis.call('HINCRBY', batch, 'pending', -1)
    if failed then redis.call('HINCRBY', batch, 'failed', 1) end
    redis.call('HSET', key, 'ran', 1)
  elseif not failed then
    redis.call('HINCRBY', batch, 'failed', -1)
  end
  touchBatch(bid)
  settleBatch(bid)
end
