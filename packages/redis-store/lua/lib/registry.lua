-- Registers lanes and forgets them. The number in a lane's hash says that the lane is registered: a step of the lane reads
-- it with its other fields.
local maxLanes = 65536
local maxFormer = 65536
-- How long it stays known if a lane was open, and which of its jobs were cleared: 90 days.
local formerMs = 90 * 24 * 3600 * 1000

-- Returns the number of a lane in the registry, which is in the slot of this script, and if it is new. `gone`: the last number
-- that the lane has no more (0: none). nil: there are too many lanes.
function Registry.numberLane(lane, gone)
  local known = tonumber(redis.call('HGET', Keys.lanes, lane) or nil)
  if known and known > gone then return known, false end
  if not known and redis.call('HLEN', Keys.lanes) >= maxLanes then return nil end
  redis.call('ZREM', Keys.former, lane)
  local number = redis.call('INCR', Keys.broker .. ':lane-number')
  -- The counter may have lost its last numbers with a server.
  if number <= gone then number = redis.call('INCRBY', Keys.broker .. ':lane-number', gone - number + 1) end
  redis.call('HSET', Keys.lanes, lane, number)
  redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('lane', lane, Keys.integer(number)))
  return number, true
end

-- The home lane of a lane's function, by the lane's queue; empty if it is the lane itself.
function Registry.homeOf(lane, queue)
  local suffix = '@' .. queue
  return #suffix > 1 and string.sub(lane, -#suffix) == suffix and string.sub(lane, 1, -#suffix - 1) or ''
end

-- Outside a cluster: the number of a lane, which is registered if it is not. Workers of the function close a new lane as
-- they close `home`, its home lane (empty: no other). nil: there are too many.
function Registry.registerLane(lane, home, graceMs)
  local number, isNew = Registry.numberLane(lane, 0)
  if not number then return nil end
  if isNew then
    redis.call('PERSIST', Keys.meta(lane))
    if home ~= '' then Lanes.closeUntil(lane, Lanes.closedUntil(home, graceMs, Keys.nowMs())) end
  end
  redis.call('HSET', Keys.meta(lane), 'number', number)
  return number
end

-- True if a lane holds nothing: no job in any place, those of native programs included, and no index that names one.
function Registry.isEmptyLane(lane, aside)
  -- stylua: ignore
  return not aside and redis.call('EXISTS', Keys.queue(lane, 'high'), Keys.queue(lane, 'normal'), Keys.queue(lane, 'low'),
    Keys.queue(lane, 'scheduled'), Keys.busy(lane), Keys.dead(lane), Keys.unique(lane), Keys.jid(lane), Keys.batchOutbox(lane)) == 0
end

function Registry.allFields(lane)
  local fields, stored = {}, redis.call('HGETALL', Keys.meta(lane))
  for index = 1, #stored, 2 do
    fields[stored[index]] = stored[index + 1]
  end
  return fields
end

-- Drops what former lanes left where there are too many, those first whose time ends first.
function Registry.dropFormer(now)
  redis.call('ZREMRANGEBYSCORE', Keys.former, '-inf', now)
  local tooMany = redis.call('ZCARD', Keys.former) - maxFormer
  if tooMany <= 0 then return {} end
  local dropped = redis.call('ZRANGE', Keys.former, 0, tooMany - 1)
  redis.call('ZREM', Keys.former, unpack(dropped))
  return dropped
end

-- Takes a lane from the registry, which is in the slot of this script, unless it has another number by now. `untilMs`: how
-- long its hash stays (0: it is gone); `totals`: its counters, which go on in those of all. Returns 1 if it was there.
function Registry.withdrawLane(lane, number, untilMs, totals)
  if tonumber(redis.call('HGET', Keys.lanes, lane) or nil) ~= number then return 0 end
  redis.call('HDEL', Keys.lanes, lane)
  if untilMs > 0 then redis.call('ZADD', Keys.former, untilMs, lane) end
  for at, count in ipairs(totals) do
    if count ~= 0 then redis.call('HINCRBY', Keys.totals, Books.counters[at], count) end
  end
  redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('unlane', lane, Keys.integer(number)))
  return 1
end

-- Forgets a lane that holds nothing and has no by-name worker: only how it was open, and which jobs were cleared, stay for a
-- while. Returns its number (0: none), how long its hash stays (ms, 0: it is gone) and its counters, for withdrawLane. In a cluster
-- the hash also says which number is gone: a node that was slow cannot set it again.
function Registry.forgetLane(lane, fields, now)
  local meta, number = Keys.meta(lane), math.max(tonumber(fields.number or 0), tonumber(fields.dropped or 0))
  local closed, kept, totals = tonumber(fields.closed or 0), {}, {}
  for at, name in ipairs(Books.counters) do
    totals[at] = tonumber(fields[name] or 0)
  end
  local untilMs = 0
  for _, name in ipairs({ 'open', 'cleared', 'bridged' }) do
    if fields[name] then
      kept[#kept + 1], kept[#kept + 2] = name, fields[name]
      untilMs = now + formerMs
    end
  end
  if closed > now then
    kept[#kept + 1], kept[#kept + 2] = 'closed', Keys.integer(closed)
    untilMs = math.max(untilMs, closed)
  end
  local hashUntilMs = untilMs
  if Keys.isCluster and number > 0 then
    kept[#kept + 1], kept[#kept + 2] = 'dropped', Keys.integer(number)
    hashUntilMs = math.max(untilMs, now + 3600000)
  end
  redis.call('DEL', meta, Keys.retries(lane), Keys.bridged(lane))
  Forgotten.forgetTurns(lane)
  -- Only consumers are counted, in lanes that are registered.
  redis.call('DEL', Keys.of('count', lane))
  if #kept > 0 then
    redis.call('HSET', meta, unpack(kept))
    redis.call('PEXPIREAT', meta, Keys.integer(hashUntilMs))
  end
  return number, untilMs, totals
end

-- Outside a cluster: forgets a lane and takes it from the registry. Returns the number that it had, if any.
function Registry.unregisterLane(lane, fields, now)
  local known = tonumber(redis.call('HGET', Keys.lanes, lane) or nil)
  local _, untilMs, totals = Registry.forgetLane(lane, fields, now)
  if known then Registry.withdrawLane(lane, known, untilMs, totals) end
  for _, former in ipairs(untilMs > 0 and Registry.dropFormer(now) or {}) do
    if redis.call('HEXISTS', Keys.lanes, former) == 0 then redis.call('DEL', Keys.meta(former)) end
  end
  redis.call('ZREM', Keys.due, lane)
  redis.call('ZREM', Keys.deadlines, lane)
  return known
end
