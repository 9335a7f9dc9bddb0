-- Ends a job for good and keeps it for an operator. `job`: as for finishJob. `as`: died, or killed by one.
function Dead.buryJob(lane, job, node, now, most, seconds, as)
  local key, dead, door = Keys.job(lane, job.id), Keys.dead(lane), Fields.doorIn(job.door)
  if door == 'faktory' then Dependencies.releaseDependencies(lane, job.id, 'failed', job.dependencies) end
  redis.call('HSET', key, 'status', 'error', 'settled', 1)
  redis.call('HDEL', key, 'token', 'wait')
  redis.call('PERSIST', key)
  Jobs.relay(lane, job.id, Jobs.otherNodes(job.waiting, node), 'finish', '')
  if job.unique and redis.call('HGET', Keys.unique(lane), job.unique) == job.id then
    redis.call('HDEL', Keys.unique(lane), job.unique)
  end
  redis.call('ZADD', dead, now + seconds * 1000, job.id)
  local call = redis.call('HGET', key, 'on_death')
  if call then Deaths.tellOfDeath(lane, job, call, now) end
  Books.book(lane, as, 1)
  local kept = redis.call('ZCARD', dead)
  -- Later ones end later.
  if kept == 1 and not Keys.isCluster then redis.call('ZADD', Keys.deadlines, 'LT', now + seconds * 1000, lane) end
  local surplus = kept - most
  if surplus > 0 then
    Books.bookForgotten(lane, surplus)
    for _, id in ipairs(redis.call('ZPOPMIN', dead, surplus)) do
      local jid = redis.call('HGET', Keys.job(lane, id), 'jid')
      Jobs.forgetIndexes(lane, id, nil, jid)
      redis.call('DEL', Keys.job(lane, id))
    end
  end
  if not job.isAnnounced then redis.call('PUBLISH', Keys.channelOf(lane), 'finish:' .. job.id) end
  if not door then Jobs.releaseLock(lane, job.id) end
end
