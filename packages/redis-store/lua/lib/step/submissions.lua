-- Stores jobs of lanes and queues the due ones. Needs ids.lua, levels.lua, jids.lua, waits.lua, handover.lua,
-- step.lua.

-- Joins a queued or running job with the same unique id; false if it has ended.
local function join(lane, id, foreground)
  local key = jobKey(lane, id)
  local job = jobFields(lane, id, 'status', 'wait')
  if job[1] ~= 'idle' and job[1] ~= 'busy' then return false end
  if foreground == 1 then
    redis.call('HSET', key, 'wait', countWait(read.wait(job[2]), node, 1))
  else
    redis.call('HDEL', key, 'fg')
  end
  return true
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

-- Jobs that wait in a lane, for their turn too; `aside`: those outside its lists.
local function waitingIn(lane, aside)
  local total = tonumber(aside or 0) + redis.call('ZCOUNT', queueKey(lane, 'scheduled'), 5e13, '+inf')
  for _, band in ipairs(bands) do
    total = total + redis.call('LLEN', queueKey(lane, band))
  end
  return total
end

-- Jobs in a lane with limits.
local function standing(lane, aside)
  local later = redis.call('ZCOUNT', queueKey(lane, 'scheduled'), '-inf', '(5e13')
  return waitingIn(lane, aside) + redis.call('ZCARD', busyKey(lane)) + later
end

-- Few routes refuse jobs. See admission.lua.
local function refusedByRoute(lane, at, upTo, sums, aside, queued, inTurns)
  --#include admission
  return refusalByRoute(lane, at, upTo, sums, aside, queued, inTurns)
end

-- Hints after submissions to one lane. A closed lane is in no index that consumers walk.
local function hintSubmitted(lane, queue, level, arrivedUs)
  local isOpen = opennessBy[lane] ~= false
  if queue ~= '' and isOpen and level then
    redis.call('ZADD', readyKey(queue), 'LT', rank(level, arrivedUs / 1000), lane)
  end
  return isOpen
end

-- The unique id and the jid of a job, the first of its further fields from `first` to `upTo`.
local function indexesOf(first, upTo)
  local unique, jid
  if first < upTo and given[first] == 'unique' then
    unique, first = given[first + 1], first + 2
  end
  if first < upTo and given[first] == 'jid' then jid = given[first + 1] end
  return unique, jid
end

-- True if a queued or running job came by the same push, whose answer its producer may have missed. Another push may have
-- the same jid; names and values of its fields stand from `first` to `upTo`.
local function isPushedAgain(lane, id, first, upTo)
  local job = jobFields(lane, id, 'status', 'envelope')
  if job[1] ~= 'idle' and job[1] ~= 'busy' then return false end
  for at = first, upTo, 2 do
    if given[at] == 'envelope' then return given[at + 1] == job[2] end
  end
  return false
end

-- Returns the reason not to store the job with extra values from `from` to `upTo`: minus the id of the job that it joined,
-- `ticked` or `locked`; nil for none. `known`: see lookedUp.
local function rejectionOrDuplicate(lane, from, upTo, foreground, unique, jid, known)
  local first = from + 1 + given[from]
  local joined = unique and known.ids[unique]
  if joined and join(lane, joined, foreground) then return -joined end
  local before = jid and known.idsOfJids[jid]
  if before and isPushedAgain(lane, before, first, upTo) then return -before end
  if first == from + 1 then return end
  local _, lock, _, _, tick, tickMs = unpack(given, from + 1, first - 1)
  if tick and tick ~= '' and tonumber(redis.call('HGET', ticksKey(lane), tick) or 0) >= tickMs then return 'ticked' end
  if lock and lock ~= '' and redis.call('EXISTS', uniqueLockKey(lane) .. ':' .. lock) == 1 then return 'locked' end
end

-- Notes a stored job's tick and lock, among its values before `first`.
local function noteTickAndLock(lane, id, from, first)
  local due, lock, lockMs, _, tick, tickMs = unpack(given, from + 1, first - 1)
  if tick and tick ~= '' then redis.call('HSET', ticksKey(lane), tick, integer(tickMs)) end
  if lock and lock ~= '' then
    local ahead = due == '' and 0 or math.max(0, due - now)
    redis.call('SET', uniqueLockKey(lane) .. ':' .. lock, id, 'PX', integer(lockMs + ahead))
  end
end

-- Long inputs that have become jobs, by number.
local storedInputs = {}

-- Takes away long inputs of jobs that were not stored.
local function dropInputs(count)
  for number = 1, count do
    if not storedInputs[number] then redis.call('UNLINK', inputKey(node, number)) end
  end
end

-- The ids that unique ids of a lane have, by unique id.
local function idsOfUniques(lane, uniques)
  local ids = {}
  if #uniques == 0 then return ids end
  for index, id in ipairs(redis.call('HMGET', uniqueKey(lane), unpack(uniques))) do
    if id then ids[uniques[index]] = id end
  end
  return ids
end

-- How many jobs stand in each queue that one of the jobs goes to, and for jobs with more than an input their unique ids and
-- jids, by their number among all, and which ids these have already. Raises an error if another program has put something in
-- the place of a queue: before anything is stored, so that the lane is refused as a whole.
local function lookedUp(lane, runs, at)
  local lengths, uniques, jids, known, number = {}, nil, nil, nil, 0
  for _ = 1, runs do
    local jobs, band = given[at], bandOf(given[at + 1])
    at = at + 4
    for _ = 1, jobs do
      local more, place = given[at + 2], band
      at, number = at + 3, number + 1
      if more > 0 then
        if not known then
          known, uniques, jids = { unique = {}, jid = {}, new = {}, pushed = {} }, {}, {}
        end
        local first, upTo = at + 1 + given[at], at + more - 1
        local due = first > at + 1 and given[at + 1] or ''
        if due ~= '' and due > now then place = 'scheduled' end
        local unique, jid = indexesOf(first, upTo)
        known.unique[number], known.jid[number] = unique, jid
        uniques[#uniques + 1], jids[#jids + 1] = unique, jid
        at = upTo + 1
      end
      if not lengths[place] then
        lengths[place] = redis.call(place == 'scheduled' and 'ZCARD' or 'LLEN', queueKey(lane, place))
      end
    end
  end
  if known then
    known.ids, known.idsOfJids = idsOfUniques(lane, uniques), idsOfJids(lane, jids)
  end
  return lengths, known
end

-- After a flush ids begin again: none may be mistaken for one of the node's jobs.
local function dropReused(lane, id)
  local at = keptAt[lane]
  if at and given[at] > 0 and id <= given[at + 3 * given[at] - 1] then keptAt[lane] = nil end
end

-- Sets the hash of a job. More fields and values follow.
local function storeJob(key, foreground, door, input, ...)
  local field = 'input'
  if type(input) == 'number' then
    redis.call('RENAME', inputKey(node, input), key)
    storedInputs[input] = true
    field, input = 'door', door
  end
  if foreground == 1 then
    redis.call('HSET', key, 'wait', node, 'fg', '1', 'door', door, field, input, ...)
  else
    redis.call('HSET', key, 'door', door, field, input, ...)
  end
end

-- The value by which a job takes turns, among its further fields.
turns.valueIn = function(first, upTo)
  for at = first, upTo, 2 do
    if given[at] == 'turn' then return given[at + 1] end
  end
  return ''
end

-- Stores the jobs of one lane, `count` in `runs` from `at` on; `isKept`: 1 if the node keeps them. A lane that is not
-- registered is registered first, or in a cluster refused. Returns a list: the lane's number; 1 if others may have heard of
-- the jobs, else 0; 1 if consumers may take them, else 0; then per job its id, a half more where there are too many values
-- for it to have a turn of its own; minus the id of the job that it joined; 0 for a full queue; `unattended`: no worker;
-- `locked`; `unbatched`: unknown batch; `ticked`: the tick or a later one has its job.
local function submitLane(lane, queue, isKept, count, runs, at, arrivedUs)
  -- stylua: ignore
  local meta = redis.call('HMGET', metaKey(lane), 'max:high', 'max:normal', 'max:low', 'open', 'closed',
    'consumers', 'aside', 'lv7', 'lv4', 'lv1', 'epoch', 'number')
  local laneNumber = tonumber(meta[12] or nil)
  if not laneNumber then
    laneNumber = registeredNow(lane, queue)
    if not laneNumber then return isCluster and 'UNREGISTERED' or 'TOO_MANY_LANES' end
    local state = redis.call('HMGET', metaKey(lane), 'open', 'closed')
    meta[4], meta[5] = state[1], state[2]
  end
  local limited = meta[1] or meta[2] or meta[3]
  opennessBy[lane] = opennessOf(lane, meta[4], meta[5], meta[6], now) or false
  local isNotified, total = listenersOf(lane) == 'each', limited and standing(lane, meta[7]) or 0

  local function isFull(level)
    local limit = tonumber(meta[level >= 7 and 1 or level >= 4 and 2 or 3] or 0)
    return limit > 0 and total >= limit
  end

  local lengths, known = lookedUp(lane, runs, at)
  local epochs = math.max(0, given[6] - tonumber(meta[11] or 0)) -- since that of its last id
  local last, problem = takeIds(lane, count, epochs)
  if not last then error({ err = problem }) end
  if epochs > 0 then redis.call('HSET', metaKey(lane), 'epoch', integer(given[6])) end
  dropReused(lane, last - count + 1)
  local nextId, results, earliestDue = last - count, { laneNumber, isNotified and 1 or 0, 0 }, nil
  local queued, best, bestUs, number = {}, nil, nil, 0 -- queued: ids by level
  local sums, left, waited = nil, 0, 0 -- what routes ask for; jobs to be queued; jobs that wait for their turn
  local noted = isKept == 1 and hasClaims and (fresh[lane] or {}) or nil
  fresh[lane] = noted
  local waiting = noted and takersOf(lane, lengths, meta[7])
  local act = nil -- where jobs take turns
  for _ = 1, runs do
    local jobs, level, foreground, door = unpack(given, at, at + 3)
    at = at + 4
    if jobs == 0 then act = actOn(lane, queue, now, door) end
    for _ = 1, jobs do
      local us, input, more = arrivedUs + given[at], given[at + 1], given[at + 2]
      local from, first, due, batch, unique, jid, result = at + 3, at + 3, '', '', nil, nil, nil
      at, number = from + more, number + 1
      if more > 0 then
        first = from + 1 + given[from]
        unique, jid = known.unique[number], known.jid[number]
        if jid or first > from + 1 or known.ids[unique] then
          result = rejectionOrDuplicate(lane, from, at - 1, foreground, unique, jid, known)
        end
        if first > from + 1 then
          due, batch = given[from + 1], first > from + 4 and given[from + 4] or ''
        end
      end
      if not result and limited and isFull(level) then result = 0 end
      if not result and first > from + 7 and (due == '' or due <= now) then
        sums = sums or {}
        result = refusedByRoute(lane, from + 7, first - 1, sums, meta[7], left, waited)
      end
      if not result and batch ~= '' and not joinsBatch(lane, batch) then result = 'unbatched' end
      if not result then
        nextId = nextId + 1
        local id, enqueued = integer(nextId), stamp(us)
        local key, taker, leaseMs = jobKey(lane, id), nil, nil
        if waiting then
          taker, leaseMs = nextTaker(lane, waiting)
        end
        local token = taker and nextToken(taker, lane)
        if token then
          -- stylua: ignore
          storeJob(key, foreground, door, input, 'status', 'busy', 'enqueued', enqueued,
            'token', token, unpack(given, first, at - 1))
        else
          storeJob(key, foreground, door, input, 'status', 'idle', 'enqueued', enqueued, unpack(given, first, at - 1))
          if noted then noted[id] = enqueued end
        end
        if unique then
          local new = known.new
          known.ids[unique], new[#new + 1], new[#new + 2] = id, unique, id
        end
        if jid then known.pushed[#known.pushed + 1] = { id, jid } end
        if first > from + 1 then noteTickAndLock(lane, id, from, first) end
        if isNotified then redis.call('PUBLISH', channelOf(lane), 'create:' .. id) end
        if token then
          if isNotified then redis.call('PUBLISH', channelOf(lane), 'start:' .. id) end
          grant(taker, lane, id, token, leaseMs, enqueued)
        elseif due ~= '' and due > now then
          redis.call('ZADD', queueKey(lane, 'scheduled'), due / 1000, id)
          if not earliestDue or due < earliestDue then earliestDue = due end
        elseif act and not turns.comesNow(act, id, turns.valueIn(first, at - 1), level, enqueued) then
          countLeft(lane, 1)
          waited = waited + 1
        else
          local ids = queued[level]
          if ids then
            ids[#ids + 1] = id
          else
            queued[level] = { id }
          end
          countLeft(lane, 1)
          left = left + 1
          if not best or level > best then
            best, bestUs = level, us
          end
        end
        total = total + 1
        result = nextId
        if act then
          result, turns.shared = nextId + (turns.shared or 0), nil
        end
      end
      results[number + 3] = result
    end
  end

  if known then
    if #known.new > 0 then pushAll('HSET', uniqueKey(lane), known.new) end
    noteJids(lane, known.pushed)
  end
  if best then
    drained[lane], occupied[lane] = nil, true
    enqueueLevels(lane, queued, { [8] = meta[8], [5] = meta[9], [2] = meta[10] })
  end
  if hintSubmitted(lane, queue, best, bestUs) then results[3] = 1 end
  if act then endAct(act) end
  if earliestDue and not isCluster then redis.call('ZADD', dueKey, 'LT', earliestDue, lane) end
  local created = nextId - (last - count)
  if created < count then redis.call('DECRBY', laneKey('uid', lane), count - created) end
  book(lane, 'submitted', created)
  return results
end
