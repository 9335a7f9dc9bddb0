-- Reserves up to `max` jobs, group after group, or by level: the highest level of all groups first.
-- KEYS: the queue list of the first lane (for routing). ARGV: open, close, packed: by (n: named; l: named, by level;
-- consumers: f of functions that they named, o of opened lanes, a also by the automatic rule), node, first token number, max, default reserve_for of consumers (ms), number of groups, then
-- per group: lease (ms, empty for none), queue (its hint index, empty for none), number of lanes, lanes; then
-- number of throttles, per throttle: queue, concurrency (0: any), rate (0: any), per (ms), timeout (ms, 0: none), jobs
-- of a worker (0: any), the worker, number of lanes of the groups, lanes.
-- Returns packed { jobs, throttled, left }, and what stands beside it: flat per job lane, id, token, fields and
-- values of its hash as they were; flat per throttle that held something back: queue, for how long
-- (ms, 0: until a job ends); 0 where a named worker would find nothing more, else 1.
--#include keys
--#include levels
--#include jobs
--#include lanes
--#include throttle
--#include packed
local given = unpackedArguments(3)
local by, node, sequence, max, defaultReserveMs, groups = unpack(given, 1, 6)
local now, taken, jobs, reply = nowMs(), 0, {}, { '' }
local byQueue, byLane = {}, {}
-- Deadline and id of what was reserved, by lane, to be written in one go. The limits of a throttle are
-- checked against what is written.
local deadlines = {}

local isNamed = by == 'n' or by == 'l'

-- The first letter of a reservation's token: n by name, c a consumer, a a consumer by the automatic rule; false where
-- the lane is closed to who asks.
local letters, letterOf = {}, { open = 'c', auto = by == 'a' and 'a' }
local function letterFor(lane)
  if isNamed then return 'n' elseif by == 'f' then return 'c' end
  if letters[lane] == nil then letters[lane] = letterOf[openness(lane, now)] or false end
  return letters[lane]
end
local function isOpen(lane) return letterFor(lane) ~= false end

-- The fields of a hash, in a table that serves for all of them, one after the other.
local fields, before = {}, {}
-- Returns whether one is to stand beside the reply.
local function readFields(stored)
  for at = 1, #before, 2 do fields[before[at]] = nil end
  local isLong = false
  for at = 1, #stored, 2 do
    local value = stored[at + 1]
    fields[stored[at]] = value
    if #value >= besideFrom then isLong = true end
  end
  before = stored
  return isLong
end

-- Ends a job that nobody wants run any more.
local function expire(lane, id, door, unique, jid, waiting, keep)
  --#include jobs
  local job = { id = id, door = door, unique = unique, jid = jid, waiting = waiting, keep = keep, how = 'expired' }
  finishJob(lane, job, '', 'error', 'expired')
  redis.call('HINCRBY', metaKey(lane), 'expired', 1)
end

-- Takes a popped job into a reservation; false for one that nobody waits for or wants any more.
local function reserve(lane, band, id, leaseMs)
  local key = jobKey(lane, id)
  local stored = redis.pcall('HGETALL', key)
  if stored.err then return false end
  local isLong = readFields(stored)
  if fields.level then tookLevel(lane, fields.level) end
  if not fields.status then return false end
  if fields.fg and not fields.wait then
    forgetIndexes(lane, id, fields.unique, fields.jid)
    redis.call('DEL', key)
    return false
  end
  if fields.stale and now >= (tonumber(fields.stale) or now + 1) then
    expire(lane, id, fields.door, fields.unique, fields.jid, fields.wait, fields.keep)
    return false
  end
  if fields.once_until then unlock(lane, id, fields.once) end
  local token = letterFor(lane) .. node .. '-' .. sequence
  sequence = sequence + 1
  local deadline = '+inf'
  if leaseMs then
    deadline = now + leaseMs
  elseif not isNamed then
    local seconds = tonumber(fields.reserve_for)
    deadline = now + (seconds and seconds * 1000 or defaultReserveMs)
  end
  redis.call('HSET', key, 'status', 'busy', 'token', token)
  -- A native client's job has the level of the band it was pushed to, and goes back there.
  if not fields.level and band ~= 'normal' then redis.call('HSET', key, 'level', usual[band]) end
  redis.call('PUBLISH', channelOf(lane), 'start:' .. id)
  if isLong then setAside(stored, reply) end
  local at = 4 * taken
  jobs[at + 1], jobs[at + 2], jobs[at + 3], jobs[at + 4] = lane, id, token, stored
  taken = taken + 1
  local throttle = byLane[lane]
  if throttle then
    redis.call('ZADD', busyKey(lane), deadline, id)
    tookThrottled(throttle, lane, id, now)
  else
    local added = deadlines[lane] or {}
    deadlines[lane] = added
    added[#added + 1], added[#added + 2] = deadline, id
  end
  return true
end

-- The band, rank and level of the next job; none where another program has put something else in the place of a queue.
local function headIn(lane)
  local isSound, band, rankOfHead, level = pcall(headOf, lane, now)
  if isSound then return band, rankOfHead, level end
end

local function takeFromBand(lane, band, leaseMs)
  while taken < max and mayTake(byLane[lane], now) do
    local ids = redis.pcall('RPOP', queueKey(lane, band), byLane[lane] and 1 or max - taken)
    if not ids or ids.err then return end
    for _, id in ipairs(ids) do reserve(lane, band, id, leaseMs) end
  end
end

local function takeFromLane(lane, leaseMs)
  for _, band in ipairs({ 'high', 'normal', 'low' }) do
    if taken >= max then return end
    takeFromBand(lane, band, leaseMs)
  end
end

-- Takes from several lanes (of what is given, from `first` to `last`) as from one line. The heads are looked up once
-- and then one by one.
local function takeInOrder(first, last, leaseMs)
  local heads = {}
  for index = first, last do
    local lane = given[index]
    if isOpen(lane) then
      local band, rankOfHead = headIn(lane)
      if band then heads[#heads + 1] = { lane, band, rankOfHead } end
    end
  end
  while taken < max and #heads > 0 do
    local best = 1
    for at = 2, #heads do
      if heads[at][3] < heads[best][3] then best = at end
    end
    local head = heads[best]
    if mayTake(byLane[head[1]], now) then
      reserve(head[1], head[2], redis.call('RPOP', queueKey(head[1], head[2])), leaseMs)
      head[2], head[3] = headIn(head[1])
    else
      head[2] = nil
    end
    if not head[2] then table.remove(heads, best) end
  end
end

-- Takes from the lanes of a queue by its hint index, which holds each lane at the rank of its head or
-- earlier: a lane's hint is corrected when it is met, so the first that is true is the first of all.
local function takeByHint(queue, leaseMs)
  local ready, throttle = readyKey(queue), byQueue[queue]
  while taken < max and mayTake(throttle, now) do
    local hint = redis.call('ZRANGE', ready, 0, 0, 'WITHSCORES')
    local lane = hint[1]
    if not lane then return end
    local band, rankOfHead = headIn(lane)
    if not band or not isOpen(lane) then
      redis.call('ZREM', ready, lane)
    elseif rankOfHead > tonumber(hint[2]) then
      redis.call('ZADD', ready, rankOfHead, lane)
    else
      byLane[lane] = throttle
      reserve(lane, band, redis.call('RPOP', queueKey(lane, band)), leaseMs)
    end
  end
end

-- Notes the next job of a group; false where there is none.
local function findHead(group)
  group.rank = nil
  for index = group.first, group.last do
    local lane = given[index]
    if mayTake(byLane[lane], now) then
      local band, rankOfHead, level = headIn(lane)
      if band and (not group.rank or rankOfHead < group.rank) then
        group.lane, group.band, group.rank, group.level = lane, band, rankOfHead, level
      end
    end
  end
  return group.rank ~= nil
end

-- Takes the highest level of all groups first; groups whose next jobs are of one level take turns.
local function takeByLevel(all)
  local inTurn = {}
  for _, group in ipairs(all) do
    if findHead(group) then inTurn[#inTurn + 1] = group end
  end
  while taken < max and #inTurn > 0 do
    local best = 1
    for at = 2, #inTurn do
      if inTurn[at].level > inTurn[best].level then best = at end
    end
    local group = table.remove(inTurn, best)
    reserve(group.lane, group.band, redis.call('RPOP', queueKey(group.lane, group.band)), group.leaseMs)
    if findHead(group) then inTurn[#inTurn + 1] = group end
  end
end

local function readThrottles(at)
  for _ = 1, given[at] do
    local queue, concurrency, rate, per, timeout, perWorker, worker, lanes = unpack(given, at + 1, at + 8)
    local throttle = { queue = queue, concurrency = concurrency, rate = rate, per = per }
    throttle.timeout, throttle.perWorker, throttle.worker = timeout, perWorker, worker
    byQueue[queue] = throttle
    for lane = at + 9, at + 8 + lanes do byLane[given[lane]] = throttle end
    at = at + 8 + lanes
  end
end

local at = 7
for _ = 1, groups do at = at + 3 + given[at + 2] end
readThrottles(at)
at = 7
local all = {}
for _ = 1, groups do
  local leaseMs, queue, count = tonumber(given[at]), given[at + 1], given[at + 2]
  local first = at + 3
  at = first + count
  if by == 'l' then
    all[#all + 1] = { first = first, last = at - 1, leaseMs = leaseMs }
  elseif taken < max then
    if queue ~= '' and count > 1 then
      takeByHint(queue, leaseMs)
    elseif count == 1 then
      if isOpen(given[first]) then takeFromLane(given[first], leaseMs) end
    else
      takeInOrder(first, at - 1, leaseMs)
    end
  end
end
takeByLevel(all)
for lane, added in pairs(deadlines) do pushAll('ZADD', busyKey(lane), added) end
local throttled = {}
for queue, throttle in pairs(byQueue) do
  if throttle.full then
    throttled[#throttled + 1] = queue
    throttled[#throttled + 1] = math.ceil(throttle.waitMs or 0)
  end
end

-- Whether there may be more; of many lanes it is not asked.
local function isLeft(lanes)
  if not isNamed or #throttled > 0 or #lanes > 8 then return 1 end
  if taken < max then return 0 end
  local keys = {}
  for _, lane in ipairs(lanes) do
    for _, band in ipairs({ 'high', 'normal', 'low' }) do keys[#keys + 1] = queueKey(lane, band) end
  end
  return redis.call('EXISTS', unpack(keys)) > 0 and 1 or 0
end
local asked = {}
at = 7
for _ = 1, groups do
  local count = given[at + 2]
  for lane = at + 3, math.min(at + 2 + count, at + 11) do asked[#asked + 1] = given[lane] end
  at = at + 3 + count
end
reply[1] = cmsgpack.pack({ jobs, throttled, isLeft(asked) })
return reply
