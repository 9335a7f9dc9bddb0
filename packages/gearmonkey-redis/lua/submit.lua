-- Stores jobs of lanes and queues those that are due. A lane that is refused does not refuse the others.
-- KEYS: uid:{lane} of the first. ARGV: open, close, packed: node, when they came (us; empty for now by the store's
-- clock), number of lanes, then per lane: lane, queue (its hint index, empty for none), number of strings that follow,
-- count, then per job: level, due (ms, empty for now), unique (empty for none), foreground (1 or empty), jid (empty
-- for none), lock (empty for none), how long it is held (ms), batch (empty for none; in a cluster the name of
-- the note by which the submission has joined it), cron entry (empty for none), its tick (ms), place in the order of
-- arrival (us), number of field strings, the field strings.
-- Returns packed per lane what refused it, or per job: its id; minus the id of the job that it joined; 0 where the
-- queue is full; `locked` where another job holds its lock; `unbatched` where its batch is not known; `ticked`
-- where the tick or a later one has its job.
--#include keys
--#include levels
--#include jids
--#include packed
--#include waits
local given = unpackedArguments(3)
local node, arrivedUs, lanes = unpack(given, 1, 3)
local now = nowMs()
if arrivedUs == '' then arrivedUs = nowUs() end

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

-- How many jobs stand in a lane that has limits, and those.
local function limitsOf(lane)
  local limits = redis.call('HMGET', metaKey(lane), 'max:high', 'max:normal', 'max:low', 'aside')
  if not (limits[1] or limits[2] or limits[3]) then return 0, nil end
  local total = redis.call('ZCARD', busyKey(lane)) + redis.call('ZCARD', queueKey(lane, 'scheduled'))
    + tonumber(limits[4] or 0)
  for _, band in ipairs({ 'high', 'normal', 'low' }) do
    total = total + redis.call('LLEN', queueKey(lane, band))
  end
  return total, limits
end

-- The jobs of one lane, `count` of them from `at` on.
local function submitLane(lane, queue, count, at)
  needQueues(lane)
  local channel, total, limits = channelOf(lane), limitsOf(lane)

  local function isFull(level)
    if not limits then return false end
    local limit = tonumber(limits[level >= 7 and 1 or level >= 4 and 2 or 3] or 0)
    return limit > 0 and total >= limit
  end

  local last = redis.call('INCRBY', laneKey('uid', lane), count)
  local nextId, results, queued, best, bestUs = last - count, {}, {}, nil, nil -- queued: ids by level
  local earliestDue = nil
  for index = 1, count do
    local level, due, unique, foreground, jid, lock, lockMs, batch, tick, tickMs, place, fields =
      unpack(given, at, at + 11)
    local first = at + 12
    at = first + fields
    local joined = unique ~= '' and join(lane, unique, foreground == '1') or nil
    if joined then
      results[index] = -joined
    elseif tick ~= '' and tonumber(redis.call('HGET', ticksKey(lane), tick) or 0) >= tickMs then
      results[index] = 'ticked'
    elseif lock ~= '' and redis.call('EXISTS', onceKey(lane) .. ':' .. lock) == 1 then
      results[index] = 'locked'
    elseif isFull(level) then
      results[index] = 0
    elseif batch ~= '' and not joinsBatch(lane, batch) then
      results[index] = 'unbatched'
    else
      nextId = nextId + 1
      local id = integer(nextId)
      redis.call('HSET', jobKey(lane, id), 'status', 'idle', 'enqueued', stamp(arrivedUs + place),
        unpack(given, first, at - 1))
      if unique ~= '' then redis.call('HSET', uniqueKey(lane), unique, id) end
      if tick ~= '' then redis.call('HSET', ticksKey(lane), tick, integer(tickMs)) end
      if lock ~= '' then
        local ahead = due == '' and 0 or math.max(0, due - now)
        redis.call('SET', onceKey(lane) .. ':' .. lock, id, 'PX', integer(lockMs + ahead))
      end
      if jid ~= '' then noteJid(lane, id, jid) end
      redis.call('PUBLISH', channel, 'create:' .. id)
      if due ~= '' and due > now then
        redis.call('ZADD', queueKey(lane, 'scheduled'), due / 1000, id)
        if not earliestDue or due < earliestDue then earliestDue = due end
      else
        local ids = queued[level]
        if ids then ids[#ids + 1] = id else queued[level] = { id } end
        if not best or level > best then best, bestUs = level, arrivedUs + place end
      end
      total = total + 1
      results[index] = nextId
    end
  end

  if best then
    enqueueLevels(lane, queued)
    if queue ~= '' and openness(lane, now) then
      redis.call('ZADD', readyKey(queue), 'LT', rank(best, bestUs / 1000), lane)
    end
  end
  if earliestDue and not isCluster then redis.call('ZADD', dueKey, 'LT', earliestDue, lane) end
  local created = nextId - (last - count)
  if created < count then redis.call('DECRBY', laneKey('uid', lane), count - created) end
  if created > 0 then redis.call('HINCRBY', metaKey(lane), 'submitted', created) end
  return results
end

local answers, at = {}, 4
for index = 1, lanes do
  local lane, queue, strings, count = unpack(given, at, at + 3)
  local isSound, results = pcall(submitLane, lane, queue, count, at + 4)
  answers[index] = isSound and results or results.err or results
  at = at + 3 + strings
end
return cmsgpack.pack(answers)
