-- Since when jobs have waited.

-- Since when a queued job has waited, ms. One that has got its turn lined up late: it has waited since it came.
function Since.sinceOf(lane, id, now)
  local job = Keys.jobFields(lane, id, 'enqueued', 'arrived', 'turn')
  return Fields.time(job[3] and job[2] or job[1]) or now
end

-- Of the jobs that wait for their turn in a set of scheduled jobs the one that came first; nil for none.
function Since.oldestInTurns(scheduled)
  -- Another program may have put another type in the place of a queue.
  local ids = redis.pcall('ZRANGEBYSCORE', scheduled, 5e13, '+inf', 'LIMIT', 0, 1)
  return ids[1]
end
