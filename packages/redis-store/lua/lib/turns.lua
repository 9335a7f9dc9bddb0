-- Turns of the values of a key that jobs of a function have (`turn` in a job's hash; jobs without one share ''). Of each
-- value one job at a time is in its lane's queues. The others stand in the set of scheduled jobs beyond all times, the oldest
-- first, and by value in a set of their own (value NUL order NUL id). When the one is leased, the next of its value comes behind
-- all others. A hash has by value its job in line (empty: none), and under names that begin with NUL the limits of each value
-- (NUL), how far a walk through the values has come (`at`), and 1 if that goes on at once (`all`). A set has the values that wait
-- for their rate, by when it has room.
Turns.score = 1e14 -- seconds; the time of arrival comes on top
Turns.far = 5e13
Turns.most = 10000 + 3 -- values, and the hash's other fields; further ones share ''
Turns.lookMs = 1000 -- a lane with waiting jobs is looked at so often, for turns that nobody has passed on
Turns.looked = 200 -- values of a look, some 2 ms of the server's time
Turns.pruned = 200 -- running jobs of a value that are looked at
Turns.tried = 1000 -- entries of waiting jobs that one call may find to be wrong
Turns.released = 200 -- jobs that one call lines up once their function has turns no more

-- Each call begins anew: `given`, the limits by lane as this node has them (`concurrency rate per`, 0 for none; empty: the lane
-- has no turns); `known`, as they are stored; `started`, ids that this call has leased; `lined`, how many jobs of a lane it has
-- brought into line. None of them is made before a call needs it.
function Turns.begin()
  Turns.at, Turns.shared = nil, nil
end

-- The time of a call that needs turns, ms.
function Turns.startAt(now)
  if Turns.at then return end
  Turns.at, Turns.given, Turns.known, Turns.started, Turns.lined = now, {}, {}, {}, {}
  Turns.us, Turns.left = nil, Turns.tried
end

-- The limits of each value; nil for a lane without turns.
function Turns.limits(lane)
  local limits = Turns.known[lane]
  if limits ~= nil then return limits or nil end
  local given, stored = Turns.given[lane], redis.call('HGET', Keys.turnHolders(lane), '\0')
  local text = given or stored
  if text and text ~= '' and text ~= stored then
    if not stored then Forgotten.dropFormerTurns(lane) end
    -- All values are looked at: those that waited for the former limits may go on.
    redis.call('HSET', Keys.turnHolders(lane), '\0', text, '\0all', 1, '\0at', 0)
  end
  local concurrency, rate, per = string.match(text or '', '^(%d+) (%d+) (%d+)$')
  limits = concurrency and { concurrency = tonumber(concurrency), rate = tonumber(rate), per = tonumber(per) } or false
  Turns.known[lane] = limits
  return limits or nil
end

function Turns.holderOf(lane, value) return redis.call('HGET', Keys.turnHolders(lane), value) or '' end

function Turns.setHolder(lane, value, id) redis.call('HSET', Keys.turnHolders(lane), value, id) end

-- The entries of a value in one of the sorted sets.
function Turns.entries(command, key, value, ...)
  return redis.call(command, key, '[' .. value .. '\0', '(' .. value .. '\1', ...)
end

-- The entry of a waiting job: of a value the highest level is first, then the oldest.
function Turns.entryOf(value, id, levelText, enqueued)
  local us = (Fields.time(enqueued) or Turns.at) * 1000
  return value .. '\0' .. string.format('%d%017.0f', 9 - Bands.levelIn(levelText), us) .. '\0' .. id
end

-- True if a job still is the one of its value in line.
function Turns.isInLine(lane, id)
  if id == '' or Keys.jobFields(lane, id, 'status')[1] ~= 'idle' then return false end
  return not redis.call('ZSCORE', Keys.queue(lane, 'scheduled'), id)
end

-- How many jobs of a value run. Drops some that no longer do, whose end no step has seen.
function Turns.running(lane, value)
  local key, gone = Keys.turnRunning(lane), 0
  local count = Turns.entries('ZLEXCOUNT', key, value)
  local skipped = Turns.at % math.max(1, count - Turns.pruned + 1)
  for _, entry in ipairs(Turns.entries('ZRANGEBYLEX', key, value, 'LIMIT', skipped, Turns.pruned)) do
    local id = string.match(entry, '%z(%d+)$')
    if not Turns.started[lane .. '\0' .. id] and not redis.call('ZSCORE', Keys.busy(lane), id) then
      gone = gone + redis.call('ZREM', key, entry)
    end
  end
  return count - gone
end

-- True if one more job of a value may run.
function Turns.hasRoomFor(lane, value, limits)
  if limits.concurrency == 0 then return true end
  if Turns.entries('ZLEXCOUNT', Keys.turnRunning(lane), value) < limits.concurrency then return true end
  return Turns.running(lane, value) < limits.concurrency
end

-- How long until the rate lets a job of a value start, ms.
function Turns.rateWaitOf(lane, value, limits)
  if limits.rate == 0 then return 0 end
  return Rates.rateWait(Keys.turnStarts(lane, value), limits.rate, limits.per, Turns.at)
end

function Turns.lookAgain(lane)
  if not Keys.isCluster then redis.call('ZADD', Keys.due, 'LT', Keys.integer(Turns.at + Turns.lookMs), lane) end
end

-- Lets an idle job that is in no place wait for its turn.
function Turns.wait(lane, value, id, levelText, enqueued)
  local ms = Fields.time(enqueued)
  if not ms then
    -- The entry of the holder is found by this time.
    ms, enqueued = Turns.at, Keys.integer(Turns.at)
    redis.call('HSET', Keys.job(lane, id), 'enqueued', enqueued)
  end
  redis.call('ZADD', Keys.queue(lane, 'scheduled'), Turns.score + ms / 1000, id)
  redis.call('ZADD', Keys.turnWaiting(lane), 0, Turns.entryOf(value, id, levelText, enqueued))
  Turns.lookAgain(lane)
end

-- Puts a job behind those in line.
function Turns.lineUpNow(lane, id)
  Turns.us = math.max((Turns.us or 0) + 1, Keys.nowUs())
  Arrival.lineUp(Keys.job(lane, id), Turns.us)
  Levels.enqueue(lane, { { id, Keys.jobFields(lane, id, 'level')[1] } })
  Turns.lined[lane] = (Turns.lined[lane] or 0) + 1
end

-- The next waiting job of a value. Entries of jobs that wait no more are dropped: a former version has left some.
function Turns.nextOf(lane, value)
  local key, scheduled = Keys.turnWaiting(lane), Keys.queue(lane, 'scheduled')
  while Turns.left > 0 do
    local entries = Turns.entries('ZRANGEBYLEX', key, value, 'LIMIT', 0, Turns.left < Turns.tried and 100 or 1)
    if not entries[1] then return nil end
    for _, entry in ipairs(entries) do
      local id = string.match(entry, '%z(%d+)$')
      if tonumber(redis.call('ZSCORE', scheduled, id) or 0) >= Turns.far then return id, entry end
      redis.call('ZREM', key, entry)
      Turns.left = Turns.left - 1
    end
  end
  return ''
end

-- Gives the turn of a value to its next waiting job. True if that is in line now.
function Turns.give(lane, value, limits)
  redis.call('ZREM', Keys.turnDue(lane), value)
  local id, entry = Turns.nextOf(lane, value)
  if not id then
    if limits.concurrency > 0 and Turns.running(lane, value) > 0 then
      Turns.setHolder(lane, value, '')
    else
      redis.call('HDEL', Keys.turnHolders(lane), value)
    end
    return false
  end
  if id == '' or not Turns.hasRoomFor(lane, value, limits) then
    Turns.setHolder(lane, value, '')
    return false
  end
  local waitMs = Turns.rateWaitOf(lane, value, limits)
  if waitMs > 0 then
    Turns.setHolder(lane, value, '')
    redis.call('ZADD', Keys.turnDue(lane), Keys.integer(Turns.at + math.ceil(waitMs)), value)
    return false
  end
  Turns.setHolder(lane, value, id)
  redis.call('ZREM', Keys.turnWaiting(lane), entry)
  redis.call('ZREM', Keys.queue(lane, 'scheduled'), id)
  Turns.lineUpNow(lane, id)
  return true
end

-- Gives the turn of a value to its next job, unless one is in line. True if one came into line.
function Turns.passOn(lane, value, limits)
  return not Turns.isInLine(lane, Turns.holderOf(lane, value)) and Turns.give(lane, value, limits)
end

-- Passes on the turns of some values, and forgets those without jobs. True at the end of a walk through all.
function Turns.pass(lane, count)
  local key, limits = Keys.turnHolders(lane), Turns.limits(lane)
  local page = redis.call('HSCAN', key, redis.call('HGET', key, '\0at') or '0', 'COUNT', count)
  redis.call('HSET', key, '\0at', page[1])
  for at = 1, #page[2], 2 do
    local value, holder = page[2][at], page[2][at + 1]
    local isValue = string.sub(value, 1, 1) ~= '\0'
    if limits and isValue and not Turns.isInLine(lane, holder) then Turns.give(lane, value, limits) end
  end
  return page[1] == '0'
end

-- The value under which a job takes turns: its own, or '' where there are too many.
function Turns.countedValue(lane, value, id)
  local key = Keys.turnHolders(lane)
  local isKnown = value == '' or redis.call('HEXISTS', key, value) == 1
  if isKnown or redis.call('HLEN', key) < Turns.most then return value end
  Turns.pass(lane, Turns.pruned / 10)
  if redis.call('HLEN', key) < Turns.most then return value end
  redis.call('HSET', Keys.job(lane, id), 'turn', '')
  Turns.shared = 0.5
  return ''
end

-- A job has come, or is due. True if it is to be queued now; else it waits for its turn.
function Turns.arrive(lane, value, id, levelText, enqueued)
  local limits = Turns.limits(lane)
  value = Turns.countedValue(lane, value, id)
  -- A job that comes into line after it has a later time.
  Turns.us = math.max(Turns.us or 0, math.min(Fields.time(enqueued) or 0, Turns.at + 1000) * 1000)
  local holder = Turns.holderOf(lane, value)
  if holder == id then return true end
  if Turns.isInLine(lane, holder) then
    Turns.wait(lane, value, id, levelText, enqueued)
    return false
  end
  local isAlone = Turns.entries('ZLEXCOUNT', Keys.turnWaiting(lane), value) == 0
  if isAlone and Turns.hasRoomFor(lane, value, limits) and Turns.rateWaitOf(lane, value, limits) == 0 then
    Turns.setHolder(lane, value, id)
    return true
  end
  Turns.wait(lane, value, id, levelText, enqueued)
  Turns.give(lane, value, limits)
  return false
end

-- A job whose lease was interrupted comes back. True if it has its turn again; else it waits for it.
function Turns.comeBack(lane, value, id, levelText, enqueued)
  if Turns.isInLine(lane, Turns.holderOf(lane, value)) then
    Turns.wait(lane, value, id, levelText, enqueued)
    return false
  end
  Turns.setHolder(lane, value, id)
  return true
end

-- A job was taken from a queue. True if it may not be leased now: then it waits for its turn.
function Turns.mustWait(lane, value, id, levelText, enqueued)
  local limits, holder = Turns.limits(lane), Turns.holderOf(lane, value)
  local isAnothers = holder ~= id and Turns.isInLine(lane, holder)
  local mayStart = Turns.hasRoomFor(lane, value, limits) and Turns.rateWaitOf(lane, value, limits) == 0
  if mayStart and not isAnothers then return false end
  Turns.wait(lane, value, id, levelText, enqueued)
  if not isAnothers then Turns.give(lane, value, limits) end
  return true
end

-- A job was leased: it counts for the limits of its value.
function Turns.start(lane, value, id)
  local limits = Turns.limits(lane)
  Turns.started[lane .. '\0' .. id] = true
  if limits.concurrency > 0 then redis.call('ZADD', Keys.turnRunning(lane), 0, value .. '\0' .. id) end
  if limits.rate > 0 then Rates.noteStart(Keys.turnStarts(lane, value), limits.rate, limits.per, Turns.at) end
end

-- A job has left the line: the next one of its value comes.
function Turns.leave(lane, value, id)
  local holder = Turns.holderOf(lane, value)
  if holder == id or not Turns.isInLine(lane, holder) then Turns.give(lane, value, Turns.limits(lane)) end
end

-- A lease has ended.
function Turns.finish(lane, value, id)
  redis.call('ZREM', Keys.turnRunning(lane), value .. '\0' .. id)
  Turns.started[lane .. '\0' .. id] = nil
end

-- Lines up some waiting jobs of a lane whose function has turns no more, the oldest first. True if more are to come.
function Turns.release(lane)
  local scheduled = Keys.queue(lane, 'scheduled')
  local ids = redis.call('ZRANGEBYSCORE', scheduled, Turns.far, '+inf', 'LIMIT', 0, Turns.released)
  if #ids == 0 then
    Forgotten.forgetTurns(lane)
    return false
  end
  redis.call('ZREM', scheduled, unpack(ids))
  for _, id in ipairs(ids) do
    local job = Keys.jobFields(lane, id, 'status', 'turn', 'level', 'enqueued')
    if job[1] then
      redis.call('ZREM', Keys.turnWaiting(lane), Turns.entryOf(job[2] or '', id, job[3], job[4]))
      Turns.lineUpNow(lane, id)
    end
  end
  return true
end

-- Adds entries of waiting jobs that have none: another program put them there, or the server has lost it. Each second looks
-- at others.
function Turns.addEntries(lane, waiting)
  local scheduled = Keys.queue(lane, 'scheduled')
  local from = math.floor(Turns.at / Turns.lookMs) * Turns.looked % waiting
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', scheduled, Turns.far, '+inf', 'LIMIT', from, Turns.looked)) do
    local job = Keys.jobFields(lane, id, 'status', 'turn', 'level', 'enqueued')
    redis.call('ZREM', scheduled, id)
    if job[1] then Turns.wait(lane, job[2] or '', id, job[3], job[4]) end
  end
end

-- Passes on turns whose rate has room again, and those of jobs that were taken from the line without a step: by a native
-- worker, for instance. Returns when to look again (ms), nil where no job waits.
function Turns.look(lane)
  local given, isKnown = Turns.given[lane] or '', redis.call('EXISTS', Keys.turnHolders(lane)) == 1
  if not isKnown and given == '' then return nil end
  local waiting = redis.call('ZCOUNT', Keys.queue(lane, 'scheduled'), Turns.far, '+inf')
  if not isKnown and waiting == 0 then return nil end
  if not Turns.limits(lane) then return Turns.release(lane) and Turns.at or nil end
  if waiting == 0 then
    redis.call('DEL', Keys.turnWaiting(lane), Keys.turnDue(lane))
    return nil
  end
  if redis.call('ZCARD', Keys.turnWaiting(lane)) < waiting then Turns.addEntries(lane, waiting) end
  local due = redis.call('ZRANGEBYSCORE', Keys.turnDue(lane), '-inf', Turns.at, 'LIMIT', 0, Turns.looked)
  for _, value in ipairs(due) do
    redis.call('ZREM', Keys.turnDue(lane), value)
    Turns.passOn(lane, value, Turns.limits(lane))
  end
  local isWalk = redis.call('HGET', Keys.turnHolders(lane), '\0all') == '1'
  if Turns.pass(lane, Turns.looked) and isWalk then
    isWalk = false
    redis.call('HSET', Keys.turnHolders(lane), '\0all', 0)
  end
  return (isWalk or #due == Turns.looked) and Turns.at or Turns.at + Turns.lookMs
end
