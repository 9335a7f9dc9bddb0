-- Ends a job for good and keeps it for an operator. `job`: as for finishJob. `as`: died, or killed by one. Needs jobs.lua.
--#include books
--#include deaths
local function buryJob(lane, job, node, now, most, seconds, as)
  local key, dead, door = jobKey(lane, job.id), deadKey(lane), doorIn(job.door)
  if door == 'faktory' then releaseDependencies(lane, job.id, 'failed', job.dependencies) end
  redis.call('HSET', key, 'status', 'error', 'settled', 1)
  redis.call('HDEL', key, 'token', 'wait')
  redis.call('PERSIST', key)
  relay(lane, job.id, otherNodes(job.waiting, node), 'finish', '')
  if job.unique and redis.call('HGET', uniqueKey(lane), job.unique) == job.id then
    redis.call('HDEL', uniqueKey(lane), job.unique)
  end
  redis.call('ZADD', dead, now + seconds * 1000, job.id)
  local call = redis.call('HGET', key, 'on_death')
  if call then tellOfDeath(lane, job, call, now) end
  book(lane, as, 1)
  local kept = redis.call('ZCARD', dead)
  -- Later ones end later.
  if kept == 1 and not isCluster then redis.call('ZADD', deadlinesKey, 'LT', now + seconds * 1000, lane) end
  local surplus = kept - most
  if surplus > 0 then
    bookForgotten(lane, surplus)
    for _, id in ipairs(redis.call('ZPOPMIN', dead, surplus)) do
      local jid = redis.call('HGET', jobKey(lane, id), 'jid')
      forgetIndexes(lane, id, nil, jid)
      redis.call('DEL', jobKey(lane, id))
    end
  end
  if not job.isAnnounced then redis.call('PUBLISH', channelOf(lane), 'finish:' .. job.id) end
  if not door then releaseLock(lane, job.id) end
end
