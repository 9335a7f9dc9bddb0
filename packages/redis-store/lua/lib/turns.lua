--#include levels
-- Turns of the values of a key that jobs of a function have (`turn` in a job's hash; jobs without one share ''). Of each
-- value one job at a time is in its lane's queues, the others stand in the set of scheduled jobs at `far`, beyond all times, and
-- by value in xg:turns:{lane}:waiting (value NUL order NUL id). When the one is leased, the next of its value comes behind all
-- others. xg:turns:{lane} has by value its job in line (empty: none), and as NUL the limits of each value.
-- Made with the first use, since most stores have none.
local turns = {
  score = 1e14, -- seconds
  far = 5e13,
  most = 10000, -- values; further ones share ''
  lookMs = 1000, -- a lane with waiting jobs is looked at so often, for turns that nobody has passed on
  looked = 200, -- values of a look, some 2 ms of the server's time
  pruned = 200, -- running jobs of a value that are looked at
}

-- Each call begins anew: `given`, the limits by lane as this node has them (`concurrency rate per`, 0 for none); `known`, as
-- they are stored; `started`, ids that this call has leased.
local function beginTurns(now)
  if turns.call == ARGV then return end
  turns.call, turns.at, turns.given, turns.known, turns.started = ARGV, now, {}, {}, {}
  turns.shared, turns.us = nil, nil
  if turns.give then return end

  function turns.key(lane, part) return laneKey('xg:turns', lane) .. part end

  -- The limits of each value; nil for a lane without turns.
  function turns.limits(lane)
    local limits = turns.known[lane]
    if limits ~= nil then return limits or nil end
    local stored = redis.call('HGET', turns.key(lane, ''), '\0')
    local text = turns.given[lane] or stored
    if text and text ~= stored then redis.call('HSET', turns.key(lane, ''), '\0', text) end
    local concurrency, rate, per = string.match(text or '', '^(%d+) (%d+) (%d+)$')
    limits = concurrency and { concurrency = tonumber(concurrency), rate = tonumber(rate), per = tonumber(per) }
      or false
    turns.known[lane] = limits
    return limits or nil
  end

  function turns.holderOf(lane, value) return redis.call('HGET', turns.key(lane, ''), value) or '' end

  function turns.setHolder(lane, value, id) redis.call('HSET', turns.key(lane, ''), value, id) end

  -- The entries of a value in one of the sorted sets.
  function turns.entries(command, key, value, ...)
    return redis.call(command, key, '[' .. value .. '\0', '(' .. value .. '\1', ...)
  end

  -- True if a job still is the one of its value in line, or comes there at its time.
  function turns.isInLine(lane, id)
    if id == '' or jobFields(lane, id, 'status')[1] ~= 'idle' then return false end
    local score = redis.call('ZSCORE', queueKey(lane, 'scheduled'), id)
    return not score or tonumber(score) < turns.far
  end

  -- How many jobs of a value run. Drops some that no longer do, whose end no step has seen.
  function turns.running(lane, value)
    local key, gone = turns.key(lane, ':running'), 0
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
    if turns.entries('ZLEXCOUNT', turns.key(lane, ':running'), value) < limits.concurrency then return true end
    return turns.running(lane, value) < limits.concurrency
  end

  -- How long until the rate lets a job of a value start, ms.
  function turns.rateWaitOf(lane, value, limits)
    if limits.rate == 0 then return 0 end
    local start = tonumber(redis.call('LINDEX', turns.key(lane, ':rate:' .. value), limits.rate - 1) or nil)
    return start and math.max(0, start + limits.per - turns.at) or 0
  end

  function turns.lookAgain(lane)
    if not isCluster then redis.call('ZADD', dueKey, 'LT', integer(turns.at + turns.lookMs), lane) end
  end

  -- Lets an idle job that is in no place wait for its turn.
  function turns.wait(lane, value, id, levelText, enqueued)
    local us = (read.time(enqueued) or turns.at) * 1000
    local order = string.format('%d%017.0f', 9 - levelIn(levelText), us)
    redis.call('ZADD', queueKey(lane, 'scheduled'), turns.score, id)
    redis.call('ZADD', turns.key(lane, ':waiting'), 0, value .. '\0' .. order .. '\0' .. id)
    turns.lookAgain(lane)
  end

  -- Puts a job behind those in line.
  function turns.lineUpNow(lane, id)
    --#include arrival
    turns.us = math.max((turns.us or 0) + 1, nowUs())
    lineUp(jobKey(lane, id), turns.us)
    enqueue(lane, { { id, jobFields(lane, id, 'level')[1] } })
  end

  -- Gives the turn of a value to its next waiting job. True if that is in line now.
  function turns.give(lane, value, limits)
    if not turns.hasRoomFor(lane, value, limits) then
      turns.setHolder(lane, value, '')
      return false
    end
    for _ = 1, 100 do
      local entry = turns.entries('ZRANGEBYLEX', turns.key(lane, ':waiting'), value, 'LIMIT', 0, 1)[1]
      if not entry then
        if limits.concurrency > 0 and turns.running(lane, value) > 0 then
          turns.setHolder(lane, value, '')
        else
          redis.call('HDEL', turns.key(lane, ''), value)
        end
        return false
      end
      redis.call('ZREM', turns.key(lane, ':waiting'), entry)
      local id, scheduled = string.match(entry, '%z(%d+)$'), queueKey(lane, 'scheduled')
      -- An operator may have taken it away, or to another place.
      if tonumber(redis.call('ZSCORE', scheduled, id) or 0) >= turns.far then
        turns.setHolder(lane, value, id)
        local waitMs = turns.rateWaitOf(lane, value, limits)
        if waitMs == 0 then
          redis.call('ZREM', scheduled, id)
          turns.lineUpNow(lane, id)
          return true
        end
        local dueMs = turns.at + waitMs
        redis.call('ZADD', scheduled, dueMs / 1000, id)
        if not isCluster then redis.call('ZADD', dueKey, 'LT', integer(dueMs), lane) end
        return false
      end
    end
    turns.setHolder(lane, value, '')
    return false
  end

  -- Passes on the turns of some values, and forgets those without jobs. Returns how many jobs are in line now.
  function turns.pass(lane, count)
    local key, limits, given = turns.key(lane, ''), turns.limits(lane), 0
    local page = redis.call('HSCAN', key, redis.call('HGET', key, '\0at') or '0', 'COUNT', count)
    redis.call('HSET', key, '\0at', page[1])
    for at = 1, #page[2], 2 do
      local value, holder = page[2][at], page[2][at + 1]
      local isValue = string.sub(value, 1, 1) ~= '\0'
      if limits and isValue and not turns.isInLine(lane, holder) and turns.give(lane, value, limits) then
        given = given + 1
      end
    end
    return given
  end

  -- The value under which a job takes turns: its own, or '' where there are too many.
  function turns.countedValue(lane, value, id)
    local key = turns.key(lane, '')
    local isKnown = value == '' or redis.call('HEXISTS', key, value) == 1
    if isKnown or redis.call('HLEN', key) <= turns.most then return value end
    turns.pass(lane, turns.pruned / 10)
    if redis.call('HLEN', key) <= turns.most then return value end
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
    local isAlone = turns.entries('ZLEXCOUNT', turns.key(lane, ':waiting'), value) == 0
    if isAlone and turns.hasRoomFor(lane, value, limits) and turns.rateWaitOf(lane, value, limits) == 0 then
      turns.setHolder(lane, value, id)
      return true
    end
    turns.wait(lane, value, id, levelText, enqueued)
    turns.give(lane, value, limits)
    return false
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
    if limits.concurrency > 0 then redis.call('ZADD', turns.key(lane, ':running'), 0, value .. '\0' .. id) end
    if limits.rate == 0 then return end
    local key = turns.key(lane, ':rate:' .. value)
    redis.call('LPUSH', key, integer(turns.at))
    redis.call('LTRIM', key, 0, limits.rate - 1)
    redis.call('PEXPIRE', key, integer(limits.per))
  end

  -- A job has left the line: the next one of its value comes.
  function turns.leave(lane, value, id)
    local holder = turns.holderOf(lane, value)
    if holder == id or not turns.isInLine(lane, holder) then turns.give(lane, value, turns.limits(lane)) end
  end

  -- A lease has ended. `isBack`: the job is in line again. True if the next one of its value is in line now.
  function turns.finish(lane, value, id, isBack)
    redis.call('ZREM', turns.key(lane, ':running'), value .. '\0' .. id)
    turns.started[lane .. '\0' .. id] = nil
    if turns.isInLine(lane, turns.holderOf(lane, value)) then return false end
    if not isBack then return turns.give(lane, value, turns.limits(lane)) end
    turns.setHolder(lane, value, id)
    return false
  end

  -- Passes on turns of jobs that were taken from the line without a step: by an operator or a native worker. Returns how many
  -- are in line now; nil where no job waits.
  function turns.look(lane)
    if redis.call('EXISTS', turns.key(lane, ':waiting')) == 0 then return nil end
    return turns.pass(lane, turns.looked)
  end
end
