-- Stores jobs of lanes and queues those that are due. Needs levels.lua, jids.lua, waits.lua, step.lua.

-- Joins a job that is queued or runs under the same unique id.
local function join(lane, unique, foreground)
  local id = redis.call('HGET', uniqueKey(lane), unique)
  if not id then return nil end
  local key = jobKey(lane, id)
  local job = jobFields(lane, id, 'status', 'wait')
  if job[1] ~= 'idle' and job[1] ~= 'busy' then return nil end
  if foreground then
    redis.call('HSET', key, 'wait', countWait(job[2] or nil, node, 1))
  else
    redis.call('HDEL', key, 'fg')
  end
  return id
end

local function joinsBatch(lane, batch)
  if isCluster then
    -- There it is in another slot and has the job already, unless it was told meanwhile that none will come.
    local key = joinedKey(lane, batch)
    if redis.call('GET', key) == 'void' then return false end
    redis.call('INCR', key)
    redis.call('EXPIRE', key, 86400)
    return true
  end
  --#include batches
  return joinBatch(batch, 1)
end

-- How many jobs stand in a lane that has limits; `aside`: those beside its lists.
local function standing(lane, aside)
  local total = redis.call('ZCARD', busyKey(lane)) + redis.call('ZCARD', queueKey(lane, 'scheduled'))
    + tonumber(aside or 0)
  for _, band in ipairs({ 'high', 'normal', 'low' }) do
    total = total + redis.call('LLEN', queueKey(lane, band))
  end
  return total
end

-- Submissions of one lane. A closed lane is in no index that consumers walk.
local function hintSubmitted(lane, queue, level, arrivedUs, meta)
  local isOpen = opennessOf(lane, meta[4], meta[5], meta[6], now) ~= nil
  if queue ~= '' and isOpen and level then redis.call('ZADD', readyKey(queue), 'LT', rank(level, arrivedUs / 1000), lane) end
  return isOpen
end

-- The jobs of one lane, `count` of them from `at` on. Returns a list: 1 where others may have heard of them, else 0; 1
-- where consumers may take them, else 0; then per job its id; minus the id of the job that it joined; 0 where the queue
-- is full; `locked` where another job holds its lock; `unbatched` where its batch is not known; `ticked` where the
-- tick or a later one has its job.
local function submitLane(lane, queue, count, at, arrivedUs)
  local meta = redis.call('HMGET', metaKey(lane), 'max:high', 'max:normal', 'max:low', 'open', 'closed',
    'consumers', 'aside')
  local limited = meta[1] or meta[2] or meta[3]
  local isTold, total = isHeard(lane), limited and standing(lane, meta[7]) or 0
  local needed = {}

  local function isFull(level)
    if not limited then return false end
    local limit = tonumber(meta[level >= 7 and 1 or level >= 4 and 2 or 3] or 0)
    return limit > 0 and total >= limit
  end

  -- Before anything is stored: what another program has put in the place of a queue refuses the lane as a whole.
  local first = at
  for _ = 1, count do
    local isLater = given[first + 1] ~= '' and given[first + 1] > now
    local place = isLater and 'scheduled' or bandOf(given[first])
    if not needed[place] then
      needed[place] = true
      redis.call(isLater and 'ZCARD' or 'LLEN', queueKey(lane, place))
    end
    first = first + 12 + given[first + 11]
  end
  local last = redis.call('INCRBY', laneKey('uid', lane), count)
  local nextId, results, earliestDue = last - count, { isTold and 1 or 0, 0 }, nil
  local queued, best, bestUs = {}, nil, nil -- queued: ids by level
  for index = 1, count do
    local level, due, unique, foreground, jid, lock, lockMs, batch, tick, tickMs, place, fields =
      unpack(given, at, at + 11)
    local from = at + 12
    at = from + fields
    local joined = unique ~= '' and join(lane, unique, foreground == '1') or nil
    local result
    if joined then
      result = -joined
    elseif tick ~= '' and tonumber(redis.call('HGET', ticksKey(lane), tick) or 0) >= tickMs then
      result = 'ticked'
    elseif lock ~= '' and redis.call('EXISTS', uniqueLockKey(lane) .. ':' .. lock) == 1 then
      result = 'locked'
    elseif isFull(level) then
      result = 0
    elseif batch ~= '' and not joinsBatch(lane, batch) then
      result = 'unbatched'
    else
      nextId = nextId + 1
      local id = integer(nextId)
      redis.call('HSET', jobKey(lane, id), 'status', 'idle', 'enqueued', stamp(arrivedUs + place),
        unpack(given, from, at - 1))
      if unique ~= '' then redis.call('HSET', uniqueKey(lane), unique, id) end
      if tick ~= '' then redis.call('HSET', ticksKey(lane), tick, integer(tickMs)) end
      if lock ~= '' then
        local ahead = due == '' and 0 or math.max(0, due - now)
        redis.call('SET', uniqueLockKey(lane) .. ':' .. lock, id, 'PX', integer(lockMs + ahead))
      end
      if jid ~= '' then noteJid(lane, id, jid) end
      if isTold then redis.call('PUBLISH', channelOf(lane), 'create:' .. id) end
      if due ~= '' and due > now then
        redis.call('ZADD', queueKey(lane, 'scheduled'), due / 1000, id)
        if not earliestDue or due < earliestDue then earliestDue = due end
      else
        local ids = queued[level]
        if ids then ids[#ids + 1] = id else queued[level] = { id } end
        if not best or level > best then best, bestUs = level, arrivedUs + place end
      end
      total = total + 1
      result = nextId
    end
    results[index + 2] = result
  end

  if best then enqueueLevels(lane, queued) end
  if hintSubmitted(lane, queue, best, bestUs, meta) then results[2] = 1 end
  if earliestDue and not isCluster then redis.call('ZADD', dueKey, 'LT', earliestDue, lane) end
  local created = nextId - (last - count)
  if created < count then redis.call('DECRBY', laneKey('uid', lane), count - created) end
  if created > 0 then redis.call('HINCRBY', metaKey(lane), 'submitted', created) end
  return results
end
