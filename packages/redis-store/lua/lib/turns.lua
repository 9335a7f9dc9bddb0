--#include levels
-- Turns of the values of a key that jobs of a function have (`turn` in a job's hash; jobs without one share ''). Of each
-- value one job at a time is in its lane's queues. The others stand in the set of scheduled jobs beyond all times, the oldest
-- first, and by value in a set of their own (value NUL order NUL id). When the one is leased, the next of its value comes behind
-- all others. A hash has by value its job in line (empty: none), and under names that begin with NUL the limits of each value
-- (NUL), how far a walk through the values has come (`at`), and 1 if that goes on at once (`all`). A set has the values that wait
-- for their rate, by when it has room. Made with the first use, since most stores have none.
local turns = {
  score = 1e14, -- seconds; the time of arrival comes on top
  far = 5e13,
  most = 10000 + 3, -- values, and the hash's other fields; further ones share ''
  lookMs = 1000, -- a lane with waiting jobs is looked at so often, for turns that nobody has passed on
  looked = 200, -- values of a look, some 2 ms of the server's time
  pruned = 200, -- running jobs of a value that are looked at
  tried = 1000, -- entries of waiting jobs that one call may find to be wrong
  released = 200, -- jobs that one call lines up once their function has turns no more
}

-- Each call begins anew: `given`, the limits by lane as this node has them (`concurrency rate per`, 0 for none; empty: the lane
-- has no turns); `known`, as they are stored; `started`, ids that this call has leased; `lined`, how many jobs of a lane it has
-- brought into line.
local function beginTurns(now)
  if turns.call == ARGV then return end
  turns.call, turns.at, turns.given, turns.known, turns.started, turns.lined = ARGV, now, {}, {}, {}, {}
  turns.shared, turns.us, turns.left = nil, nil, turns.tried
  if turns.give then return end
  --#include arrival
  --#include rates
  --#include forgotten

  -- The limits of each value; nil for a lane without turns.
  function turns.limits(lane)
    local limits = turns.known[lane]
    if limits ~= nil then return limits or nil end
    local given, stored = turns.given[lane], redis.call('HGET', turnHoldersKey(lane), '\0')
    local text = given or stored
    if text and text ~= '' and text ~= stored then
      if not stored then dropFormerTurns(lane) end
      -- All values are looked at: those that waited for the former limits may go on.
      redis.call('HSET', turnHoldersKey(lane), '\0', text, '\0all', 1, '\0at', 0)
    end
    local concurrency, rate, per = string.match(text or '', '^(%d+) (%d+) (%d+)$')
    limits = concurrency and { concurrency = tonumber(concurrency), rate = tonumber(rate), per = tonumber(per) }
      or false
    turns.known[lane] = limits
    return limits or nil
  end

  function turns.holderOf(lane, value) return redis.call('HGET', turnHoldersKey(lane), value) or '' end

  function turns.setHolder(lane, value, id) redis.call('HSET', turnHoldersKey(lane), value, id) end

  -- The entries of a value in one of the sorted sets.
  function turns.entries(command, key, value, ...)
    return redis.call(command, key, '[' .. value .. '\0', '(' .. value .. '\1', ...)
  end

  -- The entry of a waiting job: of a value the highest level is first, then the oldest.
  function turns.entryOf(value, id, levelText, enqueued)
    local us = (read.time(enqueued) or turns.at) * 1000
    return value .. '\0' .. string.format('%d%017.0f', 9 - levelIn(levelText), us) .. '\0' .. id
  end

  -- True if a job still is the one of its value in line.
  function turns.isInLine(lane, id)
    if id == '' or jobFields(lane, id, 'status')[1] ~= 'idle' then return false end
    return not redis.call('ZSCORE', queueKey(lane, 'scheduled'), id)
  end

  -- How many jobs of a value run. Drops some that no longer do, whose end no step has seen.
  function turns.running(lane, value)
    local key, gone = turnRunningKey(lane), 0
    local count = turns.entries('ZLEXCOUNT', key, value)
    local skipped = turns.at % math.max(1, count - turns.pruned + 1)
    for _, entry in ipairs(turns.entries('ZRANGEBYLEX', key, value, 'LIMIT', skipped, turns.pruned)) do
      local id = string.match(entry, '%z(%d+)$')
      if not turns.started[lane .. '\0' .. id] and not redis.call('ZSCORE', busyKey(lane), id) then
        gone = gone + redis.call('ZREM', key, entry)
      end
    end
    return count - gone
  end

  -- True if one more job of a value may run.
  function turns.hasRoomFor(lane, value, limits)
    if limits.concurrency == 0 then return true end
    if turns.entries('ZLEXCOUNT', turnRunningKey(lane), value) < limits.concurrency then return true end
    return turns.running(lane, value) < limits.concurrency
  end

  -- How long until the rate lets a job of a value start, ms.
  function turns.rateWaitOf(lane, value, limits)
    if limits.rate == 0 then return 0 end
    return rateWait(turnStartsKey(lane, value), limits.rate, limits.per, turns.at)
  end

  function turns.lookAgain(lane)
    if not isCluster then redis.call('ZADD', dueKey, 'LT', integer(turns.at + turns.lookMs), lane) end
  end

  -- Lets an idle job that is in no place wait for its turn.
  function turns.wait(lane, value, id, levelText, enqueued)
    local ms = read.time(enqueued)
    if not ms then
      -- The entry of the holder is found by this time.
      ms, enqueued = turns.at, integer(turns.at)
      redis.call('HSET', jobKey(lane, id), 'enqueued', enqueued)
    end
    redis.call('ZADD', queueKey(lane, 'scheduled'), turns.score + ms / 1000, id)
    redis.call('ZADD', turnWaitingKey(lane), 0, turns.entryOf(value, id, levelText, enqueued))
    turns.lookAgain(lane)
  end

  -- Puts a job behind those in line.
  function turns.lineUpNow(lane, id)
    turns.us = math.max((turns.us or 0) + 1, nowUs())
    lineUp(jobKey(lane, id), turns.us)
    enqueue(lane, { { id, jobFields(lane, id, 'level')[1] } })
    turns.lined[lane] = (turns.lined[lane] or 0) + 1
  end

  -- The next waiting job of a value. Entries of jobs that wait no more are dropped: a former version has left some.
  function turns.nextOf(lane, value)
    local key, scheduled = turnWaitingKey(lane), queueKey(lane, 'scheduled')
    while turns.left > 0 do
      local entries = turns.entries('ZRANGEBYLEX', key, value, 'LIMIT', 0, turns.left < turns.tried and 100 or 1)
      if not entries[1] then return nil end
      for _, entry in ipairs(entries) do
        local id = string.match(entry, '%z(%d+)$')
        if tonumber(redis.call('ZSCORE', scheduled, id) or 0) >= turns.far then return id, entry end
        redis.call('ZREM', key, entry)
        turns.left = turns.left - 1
      end
    end
    return ''
  end

  -- Gives the turn of a value to its next waiting job. True if that is in line now.
  function turns.give(lane, value, limits)
    redis.call('ZREM', turnDueKey(lane), value)
    local id, entry = turns.nextOf(lane, value)
    if not id then
      if limits.concurrency > 0 and turns.running(lane, value) > 0 then
        turns.setHolder(lane, value, '')
      else
        redis.call('HDEL', turnHoldersKey(lane), value)
      end
      return false
    end
    if id == '' or not turns.hasRoomFor(lane, value, limits) then
      turns.setHolder(lane, value, '')
      return false
    end
    local waitMs = turns.rateWaitOf(lane, value, limits)
    if waitMs > 0 then
      turns.setHolder(lane, value, '')
      redis.call('ZADD', turnDueKey(lane), integer(turns.at + math.ceil(waitMs)), value)
      return false
    end
    turns.setHolder(lane, value, id)
    redis.call('ZREM', turnWaitingKey(lane), entry)
    redis.call('ZREM', queueKey(lane, 'scheduled'), id)
    turns.lineUpNow(lane, id)
    return true
  end

  -- Gives the turn of a value to its next job, unless one is in line. True if one came into line.
  function turns.passOn(lane, value, limits)
    return not turns.isInLine(lane, turns.holderOf(lane, value)) and turns.give(lane, value, limits)
  end

  -- Passes on the turns of some values, and forgets those without jobs. True at the end of a walk through all.
  function turns.pass(lane, count)
    local key, limits = turnHoldersKey(lane), turns.limits(lane)
    local page = redis.call('HSCAN', key, redis.call('HGET', key, '\0at') or '0', 'COUNT', count)
    redis.call('HSET', key, '\0at', page[1])
    for at = 1, #page[2], 2 do
      local value, holder = page[2][at], page[2][at + 1]
      local isValue = string.sub(value, 1, 1) ~= '\0'
      if limits and isValue and not turns.isInLine(lane, holder) then turns.give(lane, value, limits) end
    end
    return page[1] == '0'
  end

  -- The value under which a job takes turns: its own, or '' where there are too many.
  function turns.countedValue(lane, value, id)
    local key = turnHoldersKey(lane)
    local isKnown = value == '' or redis.call('HEXISTS', key, value) == 1
    if isKnown or redis.call('HLEN', key) < turns.most then return value end
    turns.pass(lane, turns.pruned / 10)
    if redis.call('HLEN', key) < turns.most then return value end
    redis.call('HSET', jobKey(lane, id), 'turn', '')
    turns.shared = 0.5
    return ''
  end

  -- A job has come, or is due. True if it is to be queued now; else it waits for its turn.
  function turns.arrive(lane, value, id, levelText, enqueued)
    local limits = turns.limits(lane)
    value = turns.countedValue(lane, value, id)
    -- A job that comes into line after it has a later time.
    turns.us = math.max(turns.us or 0, math.min(read.time(enqueued) or 0, turns.at + 1000) * 1000)
    local holder = turns.holderOf(lane, value)
    if holder == id then return true end
    if turns.isInLine(lane, holder) then
      turns.wait(lane, value, id, levelText, enqueued)
      return false
    end
    local isAlone = turns.entries('ZLEXCOUNT', turnWaitingKey(lane), value) == 0
    if isAlone and turns.hasRoomFor(lane, value, limits) and turns.rateWaitOf(lane, value, limits) == 0 then
      turns.setHolder(lane, value, id)
      return true
    end
    turns.wait(lane, value, id, levelText, enqueued)
    turns.give(lane, value, limits)
    return false
  end

  -- A job whose lease was interrupted comes back. True if it has its turn again; else it waits for it.
  function turns.comeBack(lane, value, id, levelText, enqueued)
    if turns.isInLine(lane, turns.holderOf(lane, value)) then
      turns.wait(lane, value, id, levelText, enqueued)
      return false
    end
    turns.setHolder(lane, value, id)
    return true
  end

  -- A job was taken from a queue. True if it may not be leased now: then it waits for its turn.
  function turns.mustWait(lane, value, id, levelText, enqueued)
    local limits, holder = turns.limits(lane), turns.holderOf(lane, value)
    local isAnothers = holder ~= id and turns.isInLine(lane, holder)
    local mayStart = turns.hasRoomFor(lane, value, limits) and turns.rateWaitOf(lane, value, limits) == 0
    if mayStart and not isAnothers then return false end
    turns.wait(lane, value, id, levelText, enqueued)
    if not isAnothers then turns.give(lane, value, limits) end
    return true
  end

  -- A job was leased: it counts for the limits of its value.
  function turns.start(lane, value, id)
    local limits = turns.limits(lane)
    turns.started[lane .. '\0' .. id] = true
    if limits.concurrency > 0 then redis.call('ZADD', turnRunningKey(lane), 0, value .. '\0' .. id) end
    if limits.rate > 0 then noteStart(turnStartsKey(lane, value), limits.rate, limits.per, turns.at) end
  end

  -- A job has left the line: the next one of its value comes.
  function turns.leave(lane, value, id)
    local holder = turns.holderOf(lane, value)
    if holder == id or not turns.isInLine(lane, holder) then turns.give(lane, value, turns.limits(lane)) end
  end

  -- A lease has ended.
  function turns.finish(lane, value, id)
    redis.call('ZREM', turnRunningKey(lane), value .. '\0' .. id)
    turns.started[lane .. '\0' .. id] = nil
  end

  -- Lines up some waiting jobs of a lane whose function has turns no more, the oldest first. True if more are to come.
  function turns.release(lane)
    local scheduled = queueKey(lane, 'scheduled')
    local ids = redis.call('ZRANGEBYSCORE', scheduled, turns.far, '+inf', 'LIMIT', 0, turns.released)
    if #ids == 0 then
      forgetTurns(lane)
      return false
    end
    redis.call('ZREM', scheduled, unpack(ids))
    for _, id in ipairs(ids) do
      local job = jobFields(lane, id, 'status', 'turn', 'level', 'enqueued')
      if job[1] then
        redis.call('ZREM', turnWaitingKey(lane), turns.entryOf(job[2] or '', id, job[3], job[4]))
        turns.lineUpNow(lane, id)
      end
    end
    return true
  end

  -- Adds entries of waiting jobs that have none: another program put them there, or the server has lost it. Each second looks
  -- at others.
  function turns.addEntries(lane, waiting)
    local scheduled = queueKey(lane, 'scheduled')
    local from = math.floor(turns.at / turns.lookMs) * turns.looked % waiting
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', scheduled, turns.far, '+inf', 'LIMIT', from, turns.looked)) do
      local job = jobFields(lane, id, 'status', 'turn', 'level', 'enqueued')
      redis.call('ZREM', scheduled, id)
      if job[1] then turns.wait(lane, job[2] or '', id, job[3], job[4]) end
    end
  end

  -- Passes on turns whose rate has room again, and those of jobs that were taken from the line without a step: by a native
  -- worker, for instance. Returns when to look again (ms), nil where no job waits.
  function turns.look(lane)
    local given, isKnown = turns.given[lane] or '', redis.call('EXISTS', turnHoldersKey(lane)) == 1
    if not isKnown and given == '' then return nil end
    local waiting = redis.call('ZCOUNT', queueKey(lane, 'scheduled'), turns.far, '+inf')
    if not isKnown and waiting == 0 then return nil end
    if not turns.limits(lane) then return turns.release(lane) and turns.at or nil end
    if waiting == 0 then
      redis.call('DEL', turnWaitingKey(lane), turnDueKey(lane))
      return nil
    end
    if redis.call('ZCARD', turnWaitingKey(lane)) < waiting then turns.addEntries(lane, waiting) end
    local due = redis.call('ZRANGEBYSCORE', turnDueKey(lane), '-inf', turns.at, 'LIMIT', 0, turns.looked)
    for _, value in ipairs(due) do
      redis.call('ZREM', turnDueKey(lane), value)
      turns.passOn(lane, value, turns.limits(lane))
    end
    local isWalk = redis.call('HGET', turnHoldersKey(lane), '\0all') == '1'
    if turns.pass(lane, turns.looked) and isWalk then
      isWalk = false
      redis.call('HSET', turnHoldersKey(lane), '\0all', 0)
    end
    return (isWalk or #due == turns.looked) and turns.at or turns.at + turns.lookMs
  end
end
