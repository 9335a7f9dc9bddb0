-- The dependencies of a Faktory job: a lock that keeps its doubles out, a batch, and, for a callback, the batch that it
-- was pushed for. Needs keys.lua.

-- Frees a job's lock, unless it ran out and another job holds it now.
local function unlock(lane, id, lock)
  local key = uniqueLockKey(lane) .. ':' .. lock
  if redis.call('GET', key) == id then redis.call('DEL', key) end
end

-- Few jobs have a batch.
local function notifyBatches(key, bid, ranBefore, callback, isDone, isOver)
  --#include batches
  if bid then ranInBatch(bid, key, ranBefore == '1', not isDone) end
  if callback and isOver then callbackEnded(callback, isDone) end
end

-- Releases a job's dependencies at the end of a run or of the job. `how`: success; expired: nobody wanted it; retried;
-- failed: for good; dropped: by an operator. `dependencies`: its fields `once`, `bid`, `callback` and `ran`, if read
-- already.
local function releaseDependencies(lane, id, how, dependencies)
  local key = jobKey(lane, id)
  local job = dependencies or redis.call('HMGET', key, 'once', 'bid', 'callback', 'ran')
  if job[1] and how ~= 'failed' and how ~= 'retried' then unlock(lane, id, job[1]) end
  local isDone, isOver = how == 'success' or how == 'expired', how ~= 'retried'
  if isCluster then
    -- The batch is in another slot: a node notifies it, then removes the entry.
    local word = isDone and 'done' or 'failed'
    if job[2] then redis.call('SADD', batchOutboxKey(lane), 'job ' .. word .. ' ' .. id .. ' ' .. job[2]) end
    if job[3] and isOver then
      redis.call('SADD', batchOutboxKey(lane), 'callback ' .. word .. ' ' .. id .. ' ' .. job[3])
    end
    return
  end
  if job[2] or job[3] then notifyBatches(key, job[2], job[4], job[3], isDone, isOver) end
end
