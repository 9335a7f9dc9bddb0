-- Puts lanes into the indexes that native programs filled unheard, and forgets dead jobs whose time is up.
-- KEYS: queue:{lane}:scheduled of the first. ARGV: open, close, then per lane: lane, queue.
-- Tells of a lane where another program has put something else in the place of a queue, when the others are done.
--#include keys
--#include levels
--#include jobs
local now = nowMs()

local function healLane(lane, queue)
  needQueues(lane)
  local following = redis.call('ZRANGE', queueKey(lane, 'scheduled'), 0, 0, 'WITHSCORES')[2]
  if following and not isCluster then redis.call('ZADD', dueKey, 'LT', math.ceil(tonumber(following) * 1000), lane) end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', deadKey(lane), '-inf', now, 'LIMIT', 0, 100)) do
    forgetIndexes(lane, id, nil, jobFields(lane, id, 'jid')[1])
    redis.call('DEL', jobKey(lane, id))
    redis.call('ZREM', deadKey(lane), id)
  end
  hintReady(queue, lane, now)
end

local trouble
for at = 3, #ARGV, 2 do
  local isSound, problem = pcall(healLane, ARGV[at], ARGV[at + 1])
  if not isSound then trouble = (problem.err or problem) .. ' in ' .. ARGV[at] end
end
if trouble then error(trouble) end
return 1
