-- Jobs of unusual levels that wait outside their band's list, in xg:level:{lane}:<level>, next at the right end, and
-- follow as those in the list are taken. `aside` in the lane's hash counts them. So no push steps over many jobs.
-- Constants: how many jobs of a level above and below the usual one a list takes, and how few below bring more. A claim takes
-- fewer at once.
Aside.maxAbove = 768
local maxBelow = 256
local fewBelow = 128
-- Most jobs of a lower level brought after native workers emptied a list: they bring none themselves.
local maxAfterNative = 4096
Aside.unusualLevels = { high = { 9, 7 }, normal = { 6, 4 }, low = { 3, 1 } }
-- Delay of the poll that brings waiting jobs to native workers.
local asideLookMs = 1000

local function slice(ids, first, last)
  local some = {}
  for at = first, last do
    some[#some + 1] = ids[at]
  end
  return some
end

function Aside.countAside(lane) return tonumber(redis.call('HGET', Keys.meta(lane), 'aside') or 0) end

function Aside.changeAside(lane, change)
  if redis.call('HINCRBY', Keys.meta(lane), 'aside', change) <= 0 then redis.call('HDEL', Keys.meta(lane), 'aside') end
end

-- Puts ids behind those of their level that already wait.
local function putAside(lane, level, ids)
  if #ids == 0 then return end
  Bands.pushAll('LPUSH', Keys.level(lane, level), ids)
  Aside.changeAside(lane, #ids)
  if not Keys.isCluster then redis.call('ZADD', Keys.due, 'LT', Keys.integer(Keys.nowMs() + asideLookMs), lane) end
end

-- Puts jobs of the level below the usual one back at the end of the list, as many as it takes. The others are older
-- than those that wait.
function Aside.putBelow(lane, key, level, taken)
  local excess = math.max(0, #taken - maxBelow)
  if excess > 0 then
    Bands.pushAll('RPUSH', Keys.level(lane, level), slice(taken, 1, excess))
    Aside.changeAside(lane, excess)
  end
  Bands.pushAll('LPUSH', key, Bands.reversed(slice(taken, excess + 1, #taken)))
  redis.call('HSET', Keys.meta(lane), 'lv' .. level, #taken - excess)
end

-- Fills a list with jobs of the level above the usual one, behind those already there.
local function refillAbove(lane, key, level)
  local head, count = redis.call('LINDEX', key, -1), 0
  if head and Bands.levelOf(lane, head) == level then
    count = tonumber(redis.call('HGET', Keys.meta(lane), 'lv' .. level) or 0)
  end
  if count >= Aside.maxAbove then return 0 end
  local taken = count > 0 and Bands.takeLevel(lane, key, level, count, 'RPOP', 'RPUSH') or {}
  local ids = redis.call('RPOP', Keys.level(lane, level), math.max(1, Aside.maxAbove - #taken)) or {}
  Bands.pushAll('RPUSH', key, Bands.reversed(ids))
  Bands.pushAll('RPUSH', key, Bands.reversed(taken))
  redis.call('HSET', Keys.meta(lane), 'lv' .. level, #taken + #ids)
  return #ids
end

-- Fills a list with jobs of the level below the usual one, at the back.
local function refillBelow(lane, key, level)
  local length = redis.call('LLEN', key)
  local count = math.min(length, tonumber(redis.call('HGET', Keys.meta(lane), 'lv' .. level) or 0))
  if count >= maxBelow then return 0 end
  local most = length < fewBelow and maxAfterNative or maxBelow
  local ids = redis.call('RPOP', Keys.level(lane, level), most - count) or {}
  Bands.pushAll('LPUSH', key, ids)
  redis.call('HSET', Keys.meta(lane), 'lv' .. level, count + #ids)
  return #ids
end

-- Brings waiting jobs of a level into their band's list.
function Aside.refillLevel(lane, level)
  if redis.call('EXISTS', Keys.level(lane, level)) == 0 then return end
  local band = Bands.bandOf(level)
  local fill = level > Bands.usual[band] and refillAbove or refillBelow
  local moved = fill(lane, Keys.queue(lane, band), level)
  if moved > 0 then Aside.changeAside(lane, -moved) end
end

-- Takes the next of the jobs outside a band's list.
function Aside.popAside(lane, band)
  if Aside.countAside(lane) <= 0 then return nil end
  for _, level in ipairs(Aside.unusualLevels[band]) do
    local id = redis.call('RPOP', Keys.level(lane, level))
    if id then
      Aside.changeAside(lane, -1)
      return id
    end
  end
end

-- Splits ids into those with room and the rest.
local function split(ids, room)
  if room >= #ids then return ids, {} end
  room = math.max(0, room)
  return slice(ids, 1, room), slice(ids, room + 1, #ids)
end

-- Puts ids behind all others of their band, as many as the list takes of their level.
function Aside.enqueueBelow(lane, level, ids)
  local key, meta, room = Keys.queue(lane, Bands.bandOf(level)), Keys.meta(lane), 0
  local isWaiting = redis.call('EXISTS', Keys.level(lane, level)) == 1
  if not isWaiting then room = maxBelow - tonumber(redis.call('HGET', meta, 'lv' .. level) or 0) end
  local some, rest = split(ids, room)
  if #some > 0 then
    Bands.pushAll('LPUSH', key, some)
    redis.call('HINCRBY', meta, 'lv' .. level, #some)
  end
  if #rest == 0 then return end
  putAside(lane, level, rest)
  -- The hint still counts jobs that native workers have taken.
  if redis.call('LLEN', key) < fewBelow then Aside.refillLevel(lane, level) end
end

-- Puts ids before those of the usual level of their band, as many as the list takes of theirs.
function Aside.enqueueAbove(lane, level, ids)
  local key, meta = Keys.queue(lane, Bands.bandOf(level)), Keys.meta(lane)
  local isWaiting = redis.call('EXISTS', Keys.level(lane, level)) == 1
  local back = not isWaiting and redis.call('LINDEX', key, 0)
  -- Nothing to step over if the last in line has this level: all high jobs at 9, for instance.
  if back and Bands.levelOf(lane, back) == level then
    Bands.pushAll('LPUSH', key, ids)
    redis.call('HINCRBY', meta, 'lv' .. level, #ids)
    return
  end
  local upper = tonumber(redis.call('HGET', meta, 'lv' .. level) or 0)
  local some, rest = split(ids, isWaiting and 0 or Aside.maxAbove - upper)
  if #some > 0 then
    local taken = upper > 0 and Bands.takeLevel(lane, key, level, upper, 'RPOP', 'RPUSH') or {}
    Bands.pushAll('RPUSH', key, Bands.reversed(some))
    Bands.pushAll('RPUSH', key, Bands.reversed(taken))
    redis.call('HSET', meta, 'lv' .. level, #taken + #some)
  end
  if #rest == 0 then return end
  putAside(lane, level, rest)
  local head = redis.call('LINDEX', key, -1)
  if not head or Bands.levelOf(lane, head) ~= level then Aside.refillLevel(lane, level) end
end
