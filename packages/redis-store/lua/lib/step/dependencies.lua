-- The dependencies of a Faktory job: a lock that keeps its doubles out, a batch, and, for a callback, the batch that it
-- was pushed for.

-- Frees a job's lock, unless it ran out and another job holds it now.
function Dependencies.unlock(lane, id, lock)
  local key = Keys.uniqueLock(lane) .. ':' .. lock
  if redis.call('GET', key) == id then redis.call('DEL', key) end
end

-- Few jobs have a batch.
local function notifyBatches(key, bid, ranBefore, callback, isDone, isOver)
  if bid then Batches.ranInBatch(bid, key, ranBefore == '1', not isDone) end
  if callback and isOver then Batches.callbackEnded(callback, isDone) end
end

-- Releases a job's dependencies at the end of a run or of the job. `how`: success; expired: nobody wanted it; retried;
-- failed: for good; dropped: by an operator. `dependencies`: its fields `once`, `bid`, `callback` and `ran`, if read
-- already.
function Dependencies.releaseDependencies(lane, id, how, dependencies)
  local key = Keys.job(lane, id)
  local job = dependencies or redis.call('HMGET', key, 'once', 'bid', 'callback', 'ran')
  if job[1] and how ~= 'failed' and how ~= 'retried' then Dependencies.unlock(lane, id, job[1]) end
  local isDone, isOver = how == 'success' or how == 'expired', how ~= 'retried'
  if Keys.isCluster then
    -- The batch is in another slot: a node notifies it, then removes the entry.
    local word = isDone and 'done' or 'failed'
    if job[2] then redis.call('SADD', Keys.batchOutbox(lane), 'job ' .. word .. ' ' .. id .. ' ' .. job[2]) end
    if job[3] and isOver then
      redis.call('SADD', Keys.batchOutbox(lane), 'callback ' .. word .. ' ' .. id .. ' ' .. job[3])
    end
    return
  end
  if job[2] or job[3] then notifyBatches(key, job[2], job[4], job[3], isDone, isOver) end
end
