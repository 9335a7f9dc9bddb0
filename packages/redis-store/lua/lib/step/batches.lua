-- Batches of Faktory jobs, and their callbacks. Needs keys.lua.
--#include pushed
-- A batch without a change for this long is forgotten: 30 days.
local batchSeconds = 2592000

local function touchBatch(bid)
  local key = batchKey(bid)
  redis.call('EXPIRE', key, batchSeconds)
  redis.call('EXPIRE', key .. ':complete', batchSeconds)
  redis.call('EXPIRE', key .. ':success', batchSeconds)
  if isCluster then redis.call('EXPIRE', key .. ':ran', batchSeconds) end
end

-- Batches that are listed, the newest; older ones are found by their bid.
local maxListed = 10000

-- Lists a batch by when it was created (ms).
local function listBatch(bid, created)
  redis.call('ZADD', batchesKey, 'NX', created, bid)
  redis.call('ZREMRANGEBYRANK', batchesKey, 0, -maxListed - 1)
end

-- Adds jobs to a batch, or removes some; false if the batch is unknown.
local function joinBatch(bid, jobs)
  local key = batchKey(bid)
  if not redis.call('HGET', key, 'created') then return false end
  redis.call('HINCRBY', key, 'total', jobs)
  redis.call('HINCRBY', key, 'pending', jobs)
  touchBatch(bid)
  return true
end

-- Pushes a callback of a batch, once; false if it has none. In a cluster its lane is in another slot: a node pushes it
-- there.
local function pushCallback(bid, what)
  local list, callback = batchKey(bid) .. ':' .. what, bid .. ':' .. what
  local words = redis.call('LRANGE', list, 0, -1)
  if #words == 0 then return false end
  if isCluster then
    redis.call('RPUSH', callbacksKey, callback)
    return true
  end
  -- Where there are too many lanes, the job is found as those of native programs are.
  isRegistered(words[1], words[2])
  words[#words + 1], words[#words + 2] = 'callback', callback
  -- A callback without an id stays in its list: the job whose end it belongs to is another lane's.
  if storePushed(words[1], storedEpoch(), words, 2) then redis.call('DEL', list) end
  return true
end

-- Pushes a callback, or skips one that the batch does not have. Returns the new value of its field.
local function announce(bid, what)
  local state = pushCallback(bid, what) and '1' or '2'
  redis.call('HSET', batchKey(bid), what, state)
  return state
end

-- True for a batch: a job of another program may name any key of them.
local function isBatch(bid) return type(redis.pcall('HGET', batchKey(bid), 'created')) == 'string' end

local settleBatch

-- Reports to the parent, once each, that a child is complete with its callbacks over, and that it succeeded.
local function notifyParent(bid, parent, isSuccessful)
  if not isBatch(parent) then return end
  local isNews = false
  local function count(what)
    if redis.call('HSETNX', batchKey(bid), 'told:' .. what, 1) == 0 then return end
    redis.call('HINCRBY', batchKey(parent), 'un' .. what, -1)
    isNews = true
  end
  count('complete')
  if isSuccessful then count('success') end
  if not isNews then return end
  touchBatch(parent)
  settleBatch(parent)
end

-- Checks if a committed batch is complete (every job has run, every child is complete) or successful (no job has failed
-- so far, every child succeeded), and announces it once; success only after the callback before it is over. Fields
-- `complete` and `success`: 1 pushed, 2 done or none, 3 failed for good.
settleBatch = function(bid)
  -- stylua: ignore
  local v = redis.call('HMGET', batchKey(bid), 'committed', 'pending', 'failed', 'uncomplete', 'unsuccess',
    'complete', 'success', 'parent')
  if v[1] ~= '1' or tonumber(v[2]) > 0 then return end
  local complete, success = v[6], v[7]
  if not complete then
    if tonumber(v[4]) > 0 then return end
    complete = announce(bid, 'complete')
  end
  if complete == '1' then return end
  if not success and tonumber(v[3]) == 0 and tonumber(v[5]) == 0 then success = announce(bid, 'success') end
  if success == '1' or not v[8] then return end
  notifyParent(bid, v[8], success == '2')
end

-- A callback is done, or failed for good; one that an operator retries from the dead set may still succeed.
local function callbackEnded(callback, isDone)
  local bid, what = string.match(callback, '^(.*):(%a+)$')
  if not bid or not isBatch(bid) then return end
  local before = redis.call('HGET', batchKey(bid), what)
  if before ~= '1' and before ~= '3' then return end
  redis.call('HSET', batchKey(bid), what, isDone and 2 or 3)
  touchBatch(bid)
  settleBatch(bid)
end

-- A job of a batch has run or is gone. A job that ran counts as failed until it succeeds.
local function ranInBatch(bid, key, ranBefore, failed)
  local batch = batchKey(bid)
  if not isBatch(bid) then return end
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
