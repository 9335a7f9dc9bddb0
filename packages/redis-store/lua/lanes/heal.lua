-- Puts lanes with jobs of native programs into the indexes, drops dead jobs whose time is up, and notes by-name
-- workers. Reports a lane where another program has put another type in the place of a queue, after all others are
-- done.
-- KEYS:
--   1 queue:{lane}:scheduled of the first: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 how long by-name workers close a lane: integer, ms
--   4 and more, per lane: lane, queue
-- Returns the lanes that are closed, whose jobs no by-name worker is there for, and whose queue has consumers.
--#include keys
--#include levels
--#include jobs
--#include bridged
local now, graceMs, stranded = nowMs(), tonumber(ARGV[3]), {}

local function forgetDead(lane)
  local over = redis.call('ZRANGEBYSCORE', deadKey(lane), '-inf', now, 'LIMIT', 0, 100)
  if #over > 0 then redis.call('HINCRBY', metaKey(lane), 'forgotten', #over) end
  for _, id in ipairs(over) do
    forgetIndexes(lane, id, nil, jobFields(lane, id, 'jid')[1])
    redis.call('DEL', jobKey(lane, id))
    redis.call('ZREM', deadKey(lane), id)
  end
end

local function healLane(lane, queue)
  -- Most lanes are empty.
  local places = redis.call('EXISTS', queueKey(lane, 'high'), queueKey(lane, 'normal'), queueKey(lane, 'low'),
    queueKey(lane, 'scheduled'), deadKey(lane))
  if places > 0 then
    assertQueueTypes(lane)
    local following = redis.call('ZRANGE', queueKey(lane, 'scheduled'), 0, 0, 'WITHSCORES')[2]
    if following and not isCluster then redis.call('ZADD', dueKey, 'LT', math.ceil(tonumber(following) * 1000), lane) end
    forgetDead(lane)
  end
  local meta = redis.call('HMGET', metaKey(lane), 'open', 'closed', 'consumers', 'aside')
  -- Native workers take from the lists alone.
  if meta[4] then refillLane(lane) end
  local isWorked, closed = namedWorkers(lane, meta[3]) > 0, tonumber(meta[2] or 0)
  -- Later than now plus the grace time: that option was lowered.
  if isWorked or closed > now + graceMs then
    noteNamedWorkers(lane, closed, graceMs, now)
    closed = math.min(closed, now + graceMs)
  end
  if places == 0 and not meta[4] then return end
  if isWorked then takeBackBridged(lane, now, 1000) end
  local band, rankOfHead = headOf(lane, now)
  if not band then return end
  if opennessOf(lane, meta[1], closed, meta[3], now) then
    if queue ~= '' then redis.call('ZADD', readyKey(queue), 'LT', rankOfHead, lane) end
    return
  end
  if queue ~= '' then redis.call('ZREM', readyKey(queue), lane) end
  if not isWorked and tonumber(meta[3] or 0) > 0 then
    stranded[#stranded + 1] = lane
  end
end

local failure
for at = 4, #ARGV, 2 do
  local isSound, problem = pcall(healLane, ARGV[at], ARGV[at + 1])
  if not isSound then failure = (problem.err or problem) .. ' in ' .. ARGV[at] end
end
if failure then error(failure) end
return stranded
