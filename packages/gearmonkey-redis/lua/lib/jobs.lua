-- What follows from the end of jobs. Needs keys.lua.
--#include ties
--#include jids
local nativeRetention, lockSeconds, relaySeconds = 90000, 10, 60

local function forgetIndexes(lane, id, unique, jid, keep)
  if unique and redis.call('HGET', uniqueKey(lane), unique) == id then
    redis.call('HDEL', uniqueKey(lane), unique)
  end
  if jid then forgetJid(lane, id, jid, keep or 0) end
end

-- Tells the other nodes whose clients wait for the job, each once. True if there are any.
local function relay(lane, id, waiting, node, kind, data)
  if not waiting or waiting == node then return false end
  local told, any = {}, false
  for other in string.gmatch(waiting, '([^,=]+)=?%d*') do
    if other ~= node and not told[other] then
      told[other], any = true, true
      redis.call('PUBLISH', nodeChannel(other), kind .. '\0' .. lane .. '\0' .. id .. '\0' .. data)
    end
  end
  return any
end

-- Lets the native client go that may be blocked on its job.
local function releaseLock(lane, id)
  local lock = laneKey('lock', lane) .. ':' .. id
  redis.call('LPUSH', lock, 'OK')
  redis.call('EXPIRE', lock, lockSeconds)
end

-- Ends a job. `job` = { id, door, unique, jid, waiting, keep }. A native client's job is kept as its
-- protocol says and its lock is released; another is kept as long as it asks for, or as clients on
-- other nodes need to read the outcome. `job.isAnnounced`: its worker publishes `finish`. `job.how`: see untie; a job that was not done was dropped.
local function finishJob(lane, job, node, status, output)
  local key, id = jobKey(lane, job.id), job.id
  if job.door == 'faktory' then untie(lane, id, status == 'success' and 'success' or job.how or 'dropped') end
  local elsewhere = relay(lane, id, job.waiting, node, 'finish', '')
  local keep = job.door and tonumber(job.keep or 0) or nativeRetention
  if elsewhere and keep < relaySeconds then keep = relaySeconds end
  forgetIndexes(lane, id, job.unique, job.jid, keep)
  if keep > 0 then
    redis.call('HSET', key, 'status', status, 'output', output, 'settled', 1)
    redis.call('HDEL', key, 'token')
    redis.call('EXPIRE', key, keep)
  else
    redis.call('DEL', key)
  end
  if not job.isAnnounced then redis.call('PUBLISH', channelOf(lane), 'finish:' .. id) end
  if not job.door then releaseLock(lane, id) end
end
