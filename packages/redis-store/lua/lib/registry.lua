-- Registers lanes and forgets them. The number in a lane's hash says that the lane is registered: a step of the lane reads
-- it with its other fields. Needs lanes.lua.
--#include books
--#include forgotten
local lanesKey, formerKey, totalsKey = broker .. ':lanes', broker .. ':former', broker .. ':totals'
local maxLanes = 65536
local maxFormer = 65536
-- How long it stays known if a lane was open, and which of its jobs were cleared: 90 days.
local formerMs = 90 * 24 * 3600 * 1000

-- Returns the number of a lane in the registry, which is in the slot of this script, and if it is new. `gone`: the last number
-- that the lane has no more (0: none). nil: there are too many lanes.
local function numberLane(lane, gone)
  local known = tonumber(redis.call('HGET', lanesKey, lane) or nil)
  if known and known > gone then return known, false end
  if not known and redis.call('HLEN', lanesKey) >= maxLanes then return nil end
  redis.call('ZREM', formerKey, lane)
  local number = redis.call('INCR', broker .. ':lane-number')
  -- The counter may have lost its last numbers with a server.
  if number <= gone then number = redis.call('INCRBY', broker .. ':lane-number', gone - number + 1) end
  redis.call('HSET', lanesKey, lane, number)
  redis.call('PUBLISH', eventsChannel, framed('lane', lane, integer(number)))
  return number, true
end

-- The home lane of a lane's function, by the lane's queue; empty if it is the lane itself.
local function homeOf(lane, queue)
  local suffix = '@' .. queue
  return #suffix > 1 and string.sub(lane, -#suffix) == suffix and string.sub(lane, 1, -#suffix - 1) or ''
end

-- Outside a cluster: the number of a lane, which is registered if it is not. Workers of the function close a new lane as
-- they close `home`, its home lane (empty: no other). nil: there are too many.
local function registerLane(lane, home, graceMs)
  local number, isNew = numberLane(lane, 0)
  if not number then return nil end
  if isNew then
    redis.call('PERSIST', metaKey(lane))
    if home ~= '' then closeUntil(lane, closedUntil(home, graceMs, nowMs())) end
  end
  redis.call('HSET', metaKey(lane), 'number', number)
  return number
end

-- True if a lane holds nothing: no job in any place, those of native programs included, and no index that names one.
local function isEmptyLane(lane, aside)
  -- stylua: ignore
  return not aside and redis.call('EXISTS', queueKey(lane, 'high'), queueKey(lane, 'normal'), queueKey(lane, 'low'),
    queueKey(lane, 'scheduled'), busyKey(lane), deadKey(lane), uniqueKey(lane), jidKey(lane), batchOutboxKey(lane)) == 0
end

local function allFields(lane)
  local fields, stored = {}, redis.call('HGETALL', metaKey(lane))
  for index = 1, #stored, 2 do
    fields[stored[index]] = stored[index + 1]
  end
  return fields
end

-- Drops what former lanes left where there are too many, those first whose time ends first.
local function dropFormer(now)
  redis.call('ZREMRANGEBYSCORE', formerKey, '-inf', now)
  local tooMany = redis.call('ZCARD', formerKey) - maxFormer
  if tooMany <= 0 then return {} end
  local dropped = redis.call('ZRANGE', formerKey, 0, tooMany - 1)
  redis.call('ZREM', formerKey, unpack(dropped))
  return dropped
end

-- Takes a lane from the registry, which is in the slot of this script, unless it has another number by now. `untilMs`: how
-- long its hash stays (0: it is gone); `totals`: its counters, which go on in those of all. Returns 1 if it was there.
local function withdrawLane(lane, number, untilMs, totals)
  if tonumber(redis.call('HGET', lanesKey, lane) or nil) ~= number then return 0 end
  redis.call('HDEL', lanesKey, lane)
  if untilMs > 0 then redis.call('ZADD', formerKey, untilMs, lane) end
  for at, count in ipairs(totals) do
    if count ~= 0 then redis.call('HINCRBY', totalsKey, counters[at], count) end
  end
  redis.call('PUBLISH', eventsChannel, framed('unlane', lane, integer(number)))
  return 1
end

-- Forgets a lane that holds nothing and has no by-name worker: only how it was open, and which jobs were cleared, stay for a
-- while. Returns its number (0: none), how long its hash stays (ms, 0: it is gone) and its counters, for withdrawLane. In a cluster
-- the hash also says which number is gone: a node that was slow cannot set it again.
local function forgetLane(lane, fields, now)
  local meta, number = metaKey(lane), math.max(tonumber(fields.number or 0), tonumber(fields.dropped or 0))
  local closed, kept, totals = tonumber(fields.closed or 0), {}, {}
  for at, name in ipairs(counters) do
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
    kept[#kept + 1], kept[#kept + 2] = 'closed', integer(closed)
    untilMs = math.max(untilMs, closed)
  end
  local hashUntilMs = untilMs
  if isCluster and number > 0 then
    kept[#kept + 1], kept[#kept + 2] = 'dropped', integer(number)
    hashUntilMs = math.max(untilMs, now + 3600000)
  end
  redis.call('DEL', meta, retriesKey(lane), bridgedKey(lane))
  forgetTurns(lane)
  -- Only consumers are counted, in lanes that are registered.
  redis.call('DEL', laneKey('count', lane))
  if #kept > 0 then
    redis.call('HSET', meta, unpack(kept))
    redis.call('PEXPIREAT', meta, integer(hashUntilMs))
  end
  return number, untilMs, totals
end

-- Outside a cluster: forgets a lane and takes it from the registry. Returns the number that it had, if any.
local function unregisterLane(lane, fields, now)
  local known = tonumber(redis.call('HGET', lanesKey, lane) or nil)
  local _, untilMs, totals = forgetLane(lane, fields, now)
  if known then withdrawLane(lane, known, untilMs, totals) end
  for _, former in ipairs(untilMs > 0 and dropFormer(now) or {}) do
    if redis.call('HEXISTS', lanesKey, former) == 0 then redis.call('DEL', metaKey(former)) end
  end
  redis.call('ZREM', dueKey, lane)
  redis.call('ZREM', deadlinesKey, lane)
  return known
end
