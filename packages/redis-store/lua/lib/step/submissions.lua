-- Stores jobs of lanes and queues the due ones. Needs ids.lua, levels.lua, jids.lua, waits.lua, handover.lua,
-- step.lua.

-- Joins a queued or running job with the same unique id.
local function join(lane, unique, foreground)
  local id = redis.call('HGET', uniqueKey(lane), unique)
  if not id then return nil end
  local key = jobKey(lane, id)
  local job = jobFields(lane, id, 'status', 'wait')
  if job[1] ~= 'idle' and job[1] ~= 'busy' then return nil end
  if foreground then
    redis.call('HSET', key, 'wait', countWait(read.wait(job[2]), node, 1))
  else
    redis.call('HDEL', key, 'fg')
  end
  return id
end

local function joinsBatch(lane, batch)
  if isCluster then
    -- In a cluster the batch is in another slot and has counted the job, unless that was taken back.
    local key = joinedKey(lane, batch)
    if redis.call('GET', key) == 'void' then return false end
    redis.call('INCR', key)
    redis.call('EXPIRE', key, 86400)
    return true
  end
  --#include batches
  return joinBatch(batch, 1)
end

-- The number of a lane that was not registered; nil if it cannot be registered here.
local function registeredNow(lane, queue)
  if isCluster then return nil end
  --#include registry
  return registerLane(lane, homeOf(lane, queue), graceMs)
end

-- Jobs in a lane with limits; `aside`: those beside its lists.
local function standing(lane, aside)
  local total = redis.call('ZCARD', busyKey(lane))
    + redis.call('ZCARD', queueKey(lane, 'scheduled'))
    + tonumber(aside or 0)
  for _, band in ipairs(bands) do
    total = total + redis.call('LLEN', queueKey(lane, band))
  end
  return total
end

-- Hints after submissions to one lane. A closed lane is in no index that consumers walk.
local function hintSubmitted(lane, queue, level, arrivedUs)
  local isOpen = opennessBy[lane] ~= false
  if queue ~= '' and isOpen and level then
    redis.call('ZADD', readyKey(queue), 'LT', rank(level, arrivedUs / 1000), lane)
  end
  return isOpen
end

-- Places of a job's further values, from the first one on.
local places = {
  due = 0,
  unique = 1,
  jid = 2,
  lock = 3,
  lockMs = 4,
  batch = 5,
  tick = 6,
  tickMs = 7,
  fields = 8,
}

-- True if a queued or running job came by the same push, whose answer its producer may have missed. Another push may have
-- the same jid; values and names of its fields stand from `from` to `upTo`.
local function isPushedAgain(lane, id, from, upTo)
  local job = jobFields(lane, id, 'status', 'envelope')
  if job[1] ~= 'idle' and job[1] ~= 'busy' then return false end
  for at = from + places.fields, upTo, 2 do
    if given[at] == 'envelope' then return given[at + 1] == job[2] end
  end
  return false
end

-- Returns the reason not to store the job with values from `from` to `upTo`: minus the id of the job that it joined,
-- `ticked` or `locked`; nil for none. `pushed`: ids by jid.
local function foundInstead(lane, from, upTo, foreground, pushed)
  local unique, tick, lock = given[from + places.unique], given[from + places.tick], given[from + places.lock]
  local joined = unique ~= '' and join(lane, unique, foreground == 1) or nil
  if joined then return -joined end
  if tick ~= '' and tonumber(redis.call('HGET', ticksKey(lane), tick) or 0) >= given[from + places.tickMs] then
    return 'ticked'
  end
  if lock ~= '' and redis.call('EXISTS', uniqueLockKey(lane) .. ':' .. lock) == 1 then return 'locked' end
  local before = pushed[given[from + places.jid]]
  if before and isPushedAgain(lane, before, from, upTo) then return -before end
end

-- Adds a stored job to the indexes: unique id, tick and lock; to `jids` for the index of jids.
local function noteIndexes(lane, id, from, jids)
  local due, unique, jid, lock =
    given[from + places.due], given[from + places.unique], given[from + places.jid], given[from + places.lock]
  local tick = given[from + places.tick]
  if unique ~= '' then redis.call('HSET', uniqueKey(lane), unique, id) end
  if tick ~= '' then redis.call('HSET', ticksKey(lane), tick, integer(given[from + places.tickMs])) end
  if lock ~= '' then
    local ahead = due == '' and 0 or math.max(0, due - now)
    redis.call('SET', uniqueLockKey(lane) .. ':' .. lock, id, 'PX', integer(given[from + places.lockMs] + ahead))
  end
  if jid ~= '' then jids[#jids + 1] = { id, jid } end
end

-- Long inputs that have become jobs, by number.
local storedInputs = {}

-- Takes away long inputs of jobs that were not stored.
local function dropInputs(count)
  for number = 1, count do
    if not storedInputs[number] then redis.call('UNLINK', inputKey(node, number)) end
  end
end

-- How many jobs stand in each queue that one of the jobs goes to, and the jobs' jids. Raises an error if another program has put something in
-- the place of one: before anything is stored, so that the lane is refused as a whole.
local function lengthsOf(lane, count, at)
  local lengths, jids = {}, {}
  for _ = 1, count do
    local more = given[at + 5]
    local jid = more > 0 and given[at + 6 + places.jid] or ''
    if jid ~= '' then jids[#jids + 1] = jid end
    local due = more > 0 and given[at + 6 + places.due] or ''
    local isLater = due ~= '' and due > now
    local place = isLater and 'scheduled' or bandOf(given[at])
    lengths[place] = lengths[place] or redis.call(isLater and 'ZCARD' or 'LLEN', queueKey(lane, place))
    at = at + 6 + more
  end
  return lengths, jids
end

-- After a flush ids begin again: none may be mistaken for one of the node's jobs.
local function dropReused(lane, id)
  local at = keptAt[lane]
  if at and given[at] > 0 and id <= given[at + 3 * given[at] - 1] then keptAt[lane] = nil end
end

-- Sets the hash of a job. More fields and values follow.
local function storeJob(key, status, enqueued, foreground, door, input, ...)
  local field = 'input'
  if type(input) == 'number' then
    redis.call('RENAME', inputKey(node, input), key)
    storedInputs[input] = true
    field, input = 'status', status
  end
  if foreground == 1 then
    -- stylua: ignore
    redis.call('HSET', key, 'status', status, 'enqueued', enqueued, 'wait', node, 'fg', '1', 'door', door, field, input, ...)
  else
    redis.call('HSET', key, 'status', status, 'enqueued', enqueued, 'door', door, field, input, ...)
  end
end

-- Stores the jobs of one lane, `count` of them from `at` on; `isKept`: 1 if the node keeps them. A lane that is not
-- registered is registered first, or in a cluster refused. Returns a list: the lane's number; 1 if others may have heard of
-- the jobs, else 0; 1 if consumers may take them, else 0; then per job its id; minus the id of the job that it joined; 0 for
-- a full queue; `locked`; `unbatched`: unknown batch; `ticked`: the tick or a later one has its job.
local function submitLane(lane, queue, isKept, count, at, arrivedUs)
  -- stylua: ignore
  local meta = redis.call('HMGET', metaKey(lane), 'max:high', 'max:normal', 'max:low', 'open', 'closed',
    'consumers', 'aside', 'lv7', 'lv4', 'lv1', 'epoch', 'number')
  local number = tonumber(meta[12] or nil)
  if not number then
    number = registeredNow(lane, queue)
    if not number then return isCluster and 'UNREGISTERED' or 'TOO_MANY_LANES' end
    local state = redis.call('HMGET', metaKey(lane), 'open', 'closed')
    meta[4], meta[5] = state[1], state[2]
  end
  local limited = meta[1] or meta[2] or meta[3]
  opennessBy[lane] = opennessOf(lane, meta[4], meta[5], meta[6], now) or false
  local isNotified, total = hearersOf(lane) == 'each', limited and standing(lane, meta[7]) or 0

  local function isFull(level)
    local limit = tonumber(meta[level >= 7 and 1 or level >= 4 and 2 or 3] or 0)
    return limit > 0 and total >= limit
  end

  local lengths, newJids = lengthsOf(lane, count, at)
  local pushed = idsOfJids(lane, newJids)
  local epochs = math.max(0, given[6] - tonumber(meta[11] or 0)) -- since that of its last id
  local last, problem = takeIds(lane, count, epochs)
  if not last then error({ err = problem }) end
  if epochs > 0 then redis.call('HSET', metaKey(lane), 'epoch', integer(given[6])) end
  dropReused(lane, last - count + 1)
  local nextId, results, earliestDue = last - count, { number, isNotified and 1 or 0, 0 }, nil
  local queued, jids, best, bestUs = {}, {}, nil, nil -- queued: ids by level
  local noted = isKept == 1 and hasClaims and (fresh[lane] or {}) or nil
  fresh[lane] = noted
  local waiting = noted and takersOf(lane, lengths, meta[7])
  for answer = 4, count + 3 do
    local level, us, foreground, door, input, more = unpack(given, at, at + 5)
    local from = at + 6
    at, us = from + more, arrivedUs + us
    local result = more > 0 and foundInstead(lane, from, at - 1, foreground, pushed) or nil
    if not result and limited and isFull(level) then result = 0 end
    if
      not result
      and more > 0
      and given[from + places.batch] ~= ''
      and not joinsBatch(lane, given[from + places.batch])
    then
      result = 'unbatched'
    end
    if not result then
      nextId = nextId + 1
      local id, due = integer(nextId), more > 0 and given[from + places.due] or ''
      local key, enqueued = jobKey(lane, id), stamp(us)
      local taker, first = waiting and nextTaker(lane, waiting), from + places.fields
      local token = taker and nextToken(taker, lane)
      if token then
        storeJob(key, 'busy', enqueued, foreground, door, input, 'token', token, unpack(given, first, at - 1))
      else
        storeJob(key, 'idle', enqueued, foreground, door, input, unpack(given, first, at - 1))
        if noted then noted[id] = enqueued end
      end
      if more > 0 then noteIndexes(lane, id, from, jids) end
      if isNotified then redis.call('PUBLISH', channelOf(lane), 'create:' .. id) end
      if token then
        grant(taker, lane, id, token, taker.groups[1].leaseMs, { enqueued = enqueued })
      elseif due ~= '' and due > now then
        redis.call('ZADD', queueKey(lane, 'scheduled'), due / 1000, id)
        if not earliestDue or due < earliestDue then earliestDue = due end
      else
        local ids = queued[level]
        if ids then
          ids[#ids + 1] = id
        else
          queued[level] = { id }
        end
        countLeft(lane, 1)
        if not best or level > best then
          best, bestUs = level, us
        end
      end
      total = total + 1
      result = nextId
    end
    results[answer] = result
  end

  noteJids(lane, jids)
  if best then
    drained[lane] = nil
    enqueueLevels(lane, queued, { [8] = meta[8], [5] = meta[9], [2] = meta[10] })
  end
  if hintSubmitted(lane, queue, best, bestUs) then results[3] = 1 end
  if earliestDue and not isCluster then redis.call('ZADD', dueKey, 'LT', earliestDue, lane) end
  local created = nextId - (last - count)
  if created < count then redis.call('DECRBY', laneKey('uid', lane), count - created) end
  book(lane, 'submitted', created)
  return results
end
