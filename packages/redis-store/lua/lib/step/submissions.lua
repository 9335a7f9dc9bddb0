-- Stores jobs of lanes and queues the due ones.

-- Joins a queued or running job with the same unique id; false if it has ended.
local function join(lane, id, foreground)
  local key = Keys.job(lane, id)
  local job = Keys.jobFields(lane, id, 'status', 'wait')
  if job[1] ~= 'idle' and job[1] ~= 'busy' then return false end
  if foreground == 1 then
    redis.call('HSET', key, 'wait', Waits.countWait(Fields.wait(job[2]), Step.node, 1))
  else
    redis.call('HDEL', key, 'fg')
  end
  return true
end

local function joinsBatch(lane, batch)
  if Keys.isCluster then
    -- In a cluster the batch is in another slot and has counted the job, unless that was taken back.
    local key = Keys.joined(lane, batch)
    if redis.call('GET', key) == 'void' then return false end
    redis.call('INCR', key)
    redis.call('EXPIRE', key, 86400)
    return true
  end
  return Batches.joinBatch(batch, 1)
end

-- The number of a lane that was not registered; nil if it cannot be registered here.
local function registeredNow(lane, queue)
  if Keys.isCluster then return nil end
  return Registry.registerLane(lane, Registry.homeOf(lane, queue), Step.graceMs)
end

-- Jobs that wait in a lane, for their turn too; `aside`: those outside its lists.
function Submissions.waitingIn(lane, aside)
  local total = tonumber(aside or 0) + redis.call('ZCOUNT', Keys.queue(lane, 'scheduled'), 5e13, '+inf')
  for _, band in ipairs(Keys.bands) do
    total = total + redis.call('LLEN', Keys.queue(lane, band))
  end
  return total
end

-- Jobs in a lane with limits.
local function standing(lane, aside)
  local later = redis.call('ZCOUNT', Keys.queue(lane, 'scheduled'), '-inf', '(5e13')
  return Submissions.waitingIn(lane, aside) + redis.call('ZCARD', Keys.busy(lane)) + later
end

-- Few routes refuse jobs. See admission.lua.
local function refusedByRoute(lane, at, upTo, sums, aside, queued, inTurns)
  return Admission.refusalByRoute(lane, at, upTo, sums, aside, queued, inTurns)
end

-- Hints after submissions to one lane. A closed lane is in no index that consumers walk.
local function hintSubmitted(lane, queue, level, arrivedUs)
  local isOpen = Step.opennessBy[lane] ~= false
  if queue ~= '' and isOpen and level then
    redis.call('ZADD', Keys.ready(queue), 'LT', Levels.rank(level, arrivedUs / 1000), lane)
  end
  return isOpen
end

-- The unique id and the jid of a job, the first of its further fields from `first` to `upTo`.
local function indexesOf(first, upTo)
  local unique, jid
  if first < upTo and Step.given[first] == 'unique' then
    unique, first = Step.given[first + 1], first + 2
  end
  if first < upTo and Step.given[first] == 'jid' then jid = Step.given[first + 1] end
  return unique, jid
end

-- True if a queued or running job came by the same push, whose answer its producer may have missed. Another push may have
-- the same jid; names and values of its fields stand from `first` to `upTo`.
local function isPushedAgain(lane, id, first, upTo)
  local job = Keys.jobFields(lane, id, 'status', 'envelope')
  if job[1] ~= 'idle' and job[1] ~= 'busy' then return false end
  for at = first, upTo, 2 do
    if Step.given[at] == 'envelope' then return Step.given[at + 1] == job[2] end
  end
  return false
end

-- Returns the reason not to store the job with extra values from `from` to `upTo`: minus the id of the job that it joined,
-- `ticked` or `locked`; nil for none. `known`: see lookedUp.
local function rejectionOrDuplicate(lane, from, upTo, foreground, unique, jid, known)
  local first = from + 1 + Step.given[from]
  local joined = unique and known.ids[unique]
  if joined and join(lane, joined, foreground) then return -joined end
  local before = jid and known.idsOfJids[jid]
  if before and isPushedAgain(lane, before, first, upTo) then return -before end
  if first == from + 1 then return end
  local _, lock, _, _, tick, tickMs = unpack(Step.given, from + 1, first - 1)
  if tick and tick ~= '' and tonumber(redis.call('HGET', Keys.ticks(lane), tick) or 0) >= tickMs then
    return 'ticked'
  end
  if lock and lock ~= '' and redis.call('EXISTS', Keys.uniqueLock(lane) .. ':' .. lock) == 1 then return 'locked' end
end

-- Notes a stored job's tick and lock, among its values before `first`.
local function noteTickAndLock(lane, id, from, first)
  local due, lock, lockMs, _, tick, tickMs = unpack(Step.given, from + 1, first - 1)
  if tick and tick ~= '' then redis.call('HSET', Keys.ticks(lane), tick, Keys.integer(tickMs)) end
  if lock and lock ~= '' then
    local ahead = due == '' and 0 or math.max(0, due - Step.now)
    redis.call('SET', Keys.uniqueLock(lane) .. ':' .. lock, id, 'PX', Keys.integer(lockMs + ahead))
  end
end

-- `storedInputs` has a step's long inputs that have become jobs, by number.
function Submissions.begin() Submissions.storedInputs = {} end

-- Takes away long inputs of jobs that were not stored.
function Submissions.dropInputs(count)
  for number = 1, count do
    if not Submissions.storedInputs[number] then redis.call('UNLINK', Keys.input(Step.node, number)) end
  end
end

-- The ids that unique ids of a lane have, by unique id.
local function idsOfUniques(lane, uniques)
  local ids = {}
  if #uniques == 0 then return ids end
  for index, id in ipairs(redis.call('HMGET', Keys.unique(lane), unpack(uniques))) do
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
    local jobs, band = Step.given[at], Bands.bandOf(Step.given[at + 1])
    at = at + 4
    for _ = 1, jobs do
      local more, place = Step.given[at + 2], band
      at, number = at + 3, number + 1
      if more > 0 then
        if not known then
          known, uniques, jids = { unique = {}, jid = {}, new = {}, pushed = {} }, {}, {}
        end
        local first, upTo = at + 1 + Step.given[at], at + more - 1
        local due = first > at + 1 and Step.given[at + 1] or ''
        if due ~= '' and due > Step.now then place = 'scheduled' end
        local unique, jid = indexesOf(first, upTo)
        known.unique[number], known.jid[number] = unique, jid
        uniques[#uniques + 1], jids[#jids + 1] = unique, jid
        at = upTo + 1
      end
      if not lengths[place] then
        lengths[place] = redis.call(place == 'scheduled' and 'ZCARD' or 'LLEN', Keys.queue(lane, place))
      end
    end
  end
  if known then
    known.ids, known.idsOfJids = idsOfUniques(lane, uniques), Jids.idsOfJids(lane, jids)
  end
  return lengths, known
end

-- After a flush ids begin again: none may be mistaken for one of the node's jobs.
local function dropReused(lane, id)
  local at = Step.keptAt[lane]
  if at and Step.given[at] > 0 and id <= Step.given[at + 3 * Step.given[at] - 1] then Step.keptAt[lane] = nil end
end

-- Sets the hash of a job. More fields and values follow.
local function storeJob(key, foreground, door, input, ...)
  local field = 'input'
  if type(input) == 'number' then
    redis.call('RENAME', Keys.input(Step.node, input), key)
    Submissions.storedInputs[input] = true
    field, input = 'door', door
  end
  if foreground == 1 then
    redis.call('HSET', key, 'wait', Step.node, 'fg', '1', 'door', door, field, input, ...)
  else
    redis.call('HSET', key, 'door', door, field, input, ...)
  end
end

-- The value by which a job takes turns, among its further fields.
function Turns.valueIn(first, upTo)
  for at = first, upTo, 2 do
    if Step.given[at] == 'turn' then return Step.given[at + 1] end
  end
  return ''
end

-- Stores the jobs of one lane, `count` in `runs` from `at` on; `isKept`: 1 if the node keeps them. A lane that is not
-- registered is registered first, or in a cluster refused. Returns a list: the lane's number; 1 if others may have heard of
-- the jobs, else 0; 1 if consumers may take them, else 0; then per job its id, a half more where there are too many values
-- for it to have a turn of its own; minus the id of the job that it joined; 0 for a full queue; `unattended`: no worker;
-- `locked`; `unbatched`: unknown batch; `ticked`: the tick or a later one has its job.
function Submissions.submitLane(lane, queue, isKept, count, runs, at, arrivedUs)
  -- stylua: ignore
  local meta = redis.call('HMGET', Keys.meta(lane), 'max:high', 'max:normal', 'max:low', 'open', 'closed',
    'consumers', 'aside', 'lv7', 'lv4', 'lv1', 'epoch', 'number')
  local laneNumber = tonumber(meta[12] or nil)
  if not laneNumber then
    laneNumber = registeredNow(lane, queue)
    if not laneNumber then return Keys.isCluster and 'UNREGISTERED' or 'TOO_MANY_LANES' end
    local state = redis.call('HMGET', Keys.meta(lane), 'open', 'closed')
    meta[4], meta[5] = state[1], state[2]
  end
  local limited = meta[1] or meta[2] or meta[3]
  Step.opennessBy[lane] = Lanes.opennessOf(lane, meta[4], meta[5], meta[6], Step.now) or false
  local isNotified, total = News.listenersOf(lane) == 'each', limited and standing(lane, meta[7]) or 0

  local function isFull(level)
    local limit = tonumber(meta[level >= 7 and 1 or level >= 4 and 2 or 3] or 0)
    return limit > 0 and total >= limit
  end

  local lengths, known = lookedUp(lane, runs, at)
  local epochs = math.max(0, Step.given[6] - tonumber(meta[11] or 0)) -- since that of its last id
  local last, problem = Ids.takeIds(lane, count, epochs)
  if not last then error({ err = problem }) end
  if epochs > 0 then redis.call('HSET', Keys.meta(lane), 'epoch', Keys.integer(Step.given[6])) end
  dropReused(lane, last - count + 1)
  local nextId, results, earliestDue = last - count, { laneNumber, isNotified and 1 or 0, 0 }, nil
  local queued, best, bestUs, number = {}, nil, nil, 0 -- queued: ids by level
  local sums, left, waited = nil, 0, 0 -- what routes ask for; jobs to be queued; jobs that wait for their turn
  local noted = isKept == 1 and Step.hasClaims and (Step.fresh[lane] or {}) or nil
  Step.fresh[lane] = noted
  local waiting = noted and Handover.takersOf(lane, lengths, meta[7])
  local act = nil -- where jobs take turns
  for _ = 1, runs do
    local jobs, level, foreground, door = unpack(Step.given, at, at + 3)
    at = at + 4
    if jobs == 0 then act = Places.actOn(lane, queue, Step.now, door) end
    for _ = 1, jobs do
      local us, input, more = arrivedUs + Step.given[at], Step.given[at + 1], Step.given[at + 2]
      local from, first, due, batch, unique, jid, result = at + 3, at + 3, '', '', nil, nil, nil
      at, number = from + more, number + 1
      if more > 0 then
        first = from + 1 + Step.given[from]
        unique, jid = known.unique[number], known.jid[number]
        if jid or first > from + 1 or known.ids[unique] then
          result = rejectionOrDuplicate(lane, from, at - 1, foreground, unique, jid, known)
        end
        if first > from + 1 then
          due, batch = Step.given[from + 1], first > from + 4 and Step.given[from + 4] or ''
        end
      end
      if not result and limited and isFull(level) then result = 0 end
      if not result and first > from + 7 and (due == '' or due <= Step.now) then
        sums = sums or {}
        result = refusedByRoute(lane, from + 7, first - 1, sums, meta[7], left, waited)
      end
      if not result and batch ~= '' and not joinsBatch(lane, batch) then result = 'unbatched' end
      if not result then
        nextId = nextId + 1
        local id, enqueued = Keys.integer(nextId), Keys.stamp(us)
        local key, taker, leaseMs = Keys.job(lane, id), nil, nil
        if waiting then
          taker, leaseMs = Handover.nextTaker(lane, waiting)
        end
        local token = taker and Leases.nextToken(taker, lane)
        if token then
          -- stylua: ignore
          storeJob(key, foreground, door, input, 'status', 'busy', 'enqueued', enqueued,
            'token', token, unpack(Step.given, first, at - 1))
        else
          storeJob(
            key,
            foreground,
            door,
            input,
            'status',
            'idle',
            'enqueued',
            enqueued,
            unpack(Step.given, first, at - 1)
          )
          if noted then noted[id] = enqueued end
        end
        if unique then
          local new = known.new
          known.ids[unique], new[#new + 1], new[#new + 2] = id, unique, id
        end
        if jid then known.pushed[#known.pushed + 1] = { id, jid } end
        if first > from + 1 then noteTickAndLock(lane, id, from, first) end
        if isNotified then redis.call('PUBLISH', Keys.channelOf(lane), 'create:' .. id) end
        if token then
          if isNotified then redis.call('PUBLISH', Keys.channelOf(lane), 'start:' .. id) end
          Leases.grant(taker, lane, id, token, leaseMs, enqueued)
        elseif due ~= '' and due > Step.now then
          redis.call('ZADD', Keys.queue(lane, 'scheduled'), due / 1000, id)
          if not earliestDue or due < earliestDue then earliestDue = due end
        elseif act and not Turns.comesNow(act, id, Turns.valueIn(first, at - 1), level, enqueued) then
          News.countLeft(lane, 1)
          waited = waited + 1
        else
          local ids = queued[level]
          if ids then
            ids[#ids + 1] = id
          else
            queued[level] = { id }
          end
          News.countLeft(lane, 1)
          left = left + 1
          if not best or level > best then
            best, bestUs = level, us
          end
        end
        total = total + 1
        result = nextId
        if act then
          result, Turns.shared = nextId + (Turns.shared or 0), nil
        end
      end
      results[number + 3] = result
    end
  end

  if known then
    if #known.new > 0 then Bands.pushAll('HSET', Keys.unique(lane), known.new) end
    Jids.noteJids(lane, known.pushed)
  end
  if best then
    Handover.drained[lane], Handover.occupied[lane] = nil, true
    Levels.enqueueLevels(lane, queued, { [8] = meta[8], [5] = meta[9], [2] = meta[10] })
  end
  if hintSubmitted(lane, queue, best, bestUs) then results[3] = 1 end
  if act then Places.endAct(act) end
  if earliestDue and not Keys.isCluster then redis.call('ZADD', Keys.due, 'LT', earliestDue, lane) end
  local created = nextId - (last - count)
  if created < count then redis.call('DECRBY', Keys.of('uid', lane), count - created) end
  Books.book(lane, 'submitted', created)
  return results
end
