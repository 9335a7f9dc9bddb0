-- Puts lanes with jobs of native programs into the indexes, wakes workers for them, drops dead jobs whose time is up, and
-- notes by-name workers and, outside a cluster, the next deadline. Reports a lane where another program has put another type
-- in the place of a queue, after all others are done.
-- KEYS:
--   1 queue:{lane}:scheduled of the first: sorted set
-- ARGV:
--   3 how long by-name workers close a lane: integer, ms
--   4 1 if the automatic rule opens lanes to consumers: flag
--   5 and more, per lane: lane, queue: strings
-- Returns the lanes that are closed, whose jobs no by-name worker is there for, and whose queue has consumers.
local now, graceMs, isAutoOpen, stranded = Keys.nowMs(), tonumber(ARGV[3]), ARGV[4] == '1', {}

-- Asked once for all lanes: mostly none has scheduled or dead jobs, or leases.
local listKeys, scheduledKeys, deadKeys, countKeys, busyKeys = {}, {}, {}, {}, {}
for at = 5, #ARGV, 2 do
  local place = (at - 3) / 2
  local normal, high, low, scheduled, busy, dead, count = Keys.placeKeys(ARGV[at])
  listKeys[place], scheduledKeys[place], deadKeys[place], countKeys[place] =
    { normal, high, low }, scheduled, dead, count
  busyKeys[place] = busy
end
local hasScheduled = redis.call('EXISTS', unpack(scheduledKeys)) > 0
local hasDead = redis.call('EXISTS', unpack(deadKeys)) > 0
local hasLeases = not Keys.isCluster and redis.call('EXISTS', unpack(busyKeys)) > 0
local counted = redis.call('MGET', unpack(countKeys))
-- Per queue what its hint index gets.
local ready = {}

-- Jobs that another program put beyond all times stand where those that wait for their turn do: see turns.lua.
local function bringBack(scheduled, last)
  if tonumber(last) <= 2e14 then return end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', scheduled, '(2e14', '+inf', 'LIMIT', 0, 1000)) do
    redis.call('ZADD', scheduled, 4e13, id)
  end
end

local function noteDue(lane, scheduled)
  local last = redis.call('ZRANGE', scheduled, -1, -1, 'WITHSCORES')[2]
  if not last then return end
  bringBack(scheduled, last)
  if Keys.isCluster then return end
  local dueMs = Fields.due(redis.call('ZRANGE', scheduled, 0, 0, 'WITHSCORES')[2])
  if tonumber(last) >= 5e13 then dueMs = math.min(dueMs, now + 1000) end
  redis.call('ZADD', Keys.due, 'LT', Keys.integer(dueMs), lane)
end

local function forgetDead(lane)
  local over = redis.call('ZRANGEBYSCORE', Keys.dead(lane), '-inf', now, 'LIMIT', 0, 100)
  Books.bookForgotten(lane, #over)
  for _, id in ipairs(over) do
    Jobs.forgetIndexes(lane, id, nil, Keys.jobFields(lane, id, 'jid')[1])
    redis.call('DEL', Keys.job(lane, id))
    redis.call('ZREM', Keys.dead(lane), id)
  end
end

local function noteDeadline(lane, key)
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  -- Leases without a deadline come last: see noDeadline in leases.lua.
  if first and tonumber(first) < 8e15 then redis.call('ZADD', Keys.deadlines, 'LT', first, lane) end
end

local function wake(lane, waiting)
  if waiting > 0 then redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('wake', lane, waiting)) end
end

local function noteReady(lane, queue, rankOfHead)
  if queue == '' then return end
  local heads = ready[queue]
  if not heads then
    heads = {}
    ready[queue] = heads
  end
  heads[#heads + 1] = rankOfHead
  heads[#heads + 1] = lane
end

local function healLane(place, lane, queue)
  local scheduled, waiting = scheduledKeys[place], 0
  -- Most lanes are empty.
  local lists = listKeys[place]
  local places = redis.call('EXISTS', lists[1], lists[2], lists[3], scheduled, deadKeys[place])
  if places > 0 then
    -- Raises an error if another program has put another type in the place of a queue.
    for _, list in ipairs(lists) do
      waiting = waiting + redis.call('LLEN', list)
    end
    if hasScheduled then noteDue(lane, scheduled) end
    if hasDead then
      forgetDead(lane)
      if not Keys.isCluster then noteDeadline(lane, deadKeys[place]) end
    end
  end
  if hasLeases then noteDeadline(lane, busyKeys[place]) end
  local meta = redis.call('HMGET', Keys.meta(lane), 'open', 'closed', 'consumers', 'aside')
  -- Native workers take from the lists alone.
  if meta[4] then Levels.refillLane(lane) end
  local named, closed = (tonumber(counted[place] or nil) or 0) - tonumber(meta[3] or 0), tonumber(meta[2] or 0)
  local isWorked = named > 0
  -- Later than now plus the grace time: that option was lowered.
  if isWorked or closed > now + graceMs then
    Lanes.noteNamedWorkers(lane, closed, graceMs, now)
    closed = math.min(closed, now + graceMs)
  end
  if places == 0 and not meta[4] then return end
  if isWorked then Bridged.takeBackBridged(lane, queue, now, 1000) end
  local band, rankOfHead = Levels.headOf(lane, now)
  if not band then return end
  local state = Lanes.opennessOf(lane, meta[1], closed, meta[3], now, named)
  if state then
    noteReady(lane, queue, rankOfHead)
    if state == 'open' or isAutoOpen then return wake(lane, waiting) end
  elseif queue ~= '' then
    redis.call('ZREM', Keys.ready(queue), lane)
  end
  if isWorked then
    wake(lane, waiting)
  elseif closed > now and not Keys.isCluster then
    redis.call('ZADD', Keys.deadlines, 'LT', closed, lane)
  end
  local hasConsumers = not isWorked and tonumber(meta[3] or 0) > 0
  if hasConsumers and tonumber(redis.call('HGET', Keys.meta(lane), 'labelled') or 0) <= 0 then
    stranded[#stranded + 1] = lane
  end
end

local failure
for at = 5, #ARGV, 2 do
  local isSound, problem = pcall(healLane, (at - 3) / 2, ARGV[at], ARGV[at + 1])
  if not isSound then failure = (problem.err or problem) .. ' in ' .. ARGV[at] end
end
for queue, heads in pairs(ready) do
  redis.call('ZADD', Keys.ready(queue), 'LT', unpack(heads))
end
if failure then error(failure) end
return stranded
