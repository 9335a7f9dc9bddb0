-- Batches of Faktory jobs, and their callbacks.
-- A batch without a change for this long is forgotten: 30 days.
Batches.batchSeconds = 2592000

function Batches.touchBatch(bid)
  local key = Keys.batch(bid)
  redis.call('EXPIRE', key, Batches.batchSeconds)
  redis.call('EXPIRE', key .. ':complete', Batches.batchSeconds)
  redis.call('EXPIRE', key .. ':success', Batches.batchSeconds)
  if Keys.isCluster then redis.call('EXPIRE', key .. ':ran', Batches.batchSeconds) end
end

-- Batches that are listed, the newest; older ones are found by their bid.
local maxListed = 10000

-- Lists a batch by when it was created (ms).
function Batches.listBatch(bid, created)
  redis.call('ZADD', Keys.batches, 'NX', created, bid)
  redis.call('ZREMRANGEBYRANK', Keys.batches, 0, -maxListed - 1)
end

-- Adds jobs to a batch, or removes some; false if the batch is unknown.
function Batches.joinBatch(bid, jobs)
  local key = Keys.batch(bid)
  if not redis.call('HGET', key, 'created') then return false end
  redis.call('HINCRBY', key, 'total', jobs)
  redis.call('HINCRBY', key, 'pending', jobs)
  Batches.touchBatch(bid)
  return true
end

-- Pushes a callback of a batch, once; false if it has none. In a cluster its lane is in another slot: a node pushes it
-- there.
local function pushCallback(bid, what)
  local list, callback = Keys.batch(bid) .. ':' .. what, bid .. ':' .. what
  local words = redis.call('LRANGE', list, 0, -1)
  if #words == 0 then return false end
  if Keys.isCluster then
    redis.call('RPUSH', Keys.callbacks, callback)
    return true
  end
  -- Where there are too many lanes, the job is found as those of native programs are.
  Pushed.isRegistered(words[1], words[2])
  words[#words + 1], words[#words + 2] = 'callback', callback
  -- A callback without an id stays in its list: the job whose end it belongs to is another lane's.
  if Pushed.storePushed(words[1], Pushed.storedEpoch(), words, 2) then redis.call('DEL', list) end
  return true
end

-- Pushes a callback, or skips one that the batch does not have. Returns the new value of its field.
local function announce(bid, what)
  local state = pushCallback(bid, what) and '1' or '2'
  redis.call('HSET', Keys.batch(bid), what, state)
  return state
end

-- True for a batch: a job of another program may name any key of them.
function Batches.isBatch(bid) return type(redis.pcall('HGET', Keys.batch(bid), 'created')) == 'string' end

-- Reports to the parent, once each, that a child is complete with its callbacks over, and that it succeeded.
local function notifyParent(bid, parent, isSuccessful)
  if not Batches.isBatch(parent) then return end
  local isNews = false
  local function count(what)
    if redis.call('HSETNX', Keys.batch(bid), 'told:' .. what, 1) == 0 then return end
    redis.call('HINCRBY', Keys.batch(parent), 'un' .. what, -1)
    isNews = true
  end
  count('complete')
  if isSuccessful then count('success') end
  if not isNews then return end
  Batches.touchBatch(parent)
  Batches.settleBatch(parent)
end

-- Checks if a committed batch is complete (every job has run, every child is complete) or successful (no job has failed
-- so far, every child succeeded), and announces it once; success only after the callback before it is over. Fields
-- `complete` and `success`: 1 pushed, 2 done or none, 3 failed for good.
function Batches.settleBatch(bid)
  -- stylua: ignore
  local v = redis.call('HMGET', Keys.batch(bid), 'committed', 'pending', 'failed', 'uncomplete', 'unsuccess',
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
function Batches.callbackEnded(callback, isDone)
  local bid, what = string.match(callback, '^(.*):(%a+)$')
  if not bid or not Batches.isBatch(bid) then return end
  local before = redis.call('HGET', Keys.batch(bid), what)
  if before ~= '1' and before ~= '3' then return end
  redis.call('HSET', Keys.batch(bid), what, isDone and 2 or 3)
  Batches.touchBatch(bid)
  Batches.settleBatch(bid)
end

-- A job of a batch has run or is gone. A job that ran counts as failed until it succeeds.
function Batches.ranInBatch(bid, key, ranBefore, failed)
  local batch = Keys.batch(bid)
  if not Batches.isBatch(bid) then return end
  if not ranBefore then
    redis.call('HINCRBY', batch, 'pending', -1)
    if failed then redis.call('HINCRBY', batch, 'failed', 1) end
    redis.call('HSET', key, 'ran', 1)
  elseif not failed then
    redis.call('HINCRBY', batch, 'failed', -1)
  end
  Batches.touchBatch(bid)
  Batches.settleBatch(bid)
end
