-- Reservations past their deadline. They stand until an outcome with their token ends them.
-- KEYS: xg:busy:{lane} of the first. ARGV: open, close, most per lane, lanes.
-- Returns per job: { lane, id, token, fields and values }.
--#include keys
local now, jobs = nowMs(), {}
for at = 4, #ARGV do
  local lane = ARGV[at]
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', busyKey(lane), '-inf', now, 'LIMIT', 0, ARGV[3])) do
    local stored = redis.call('HGETALL', jobKey(lane, id))
    local token = redis.call('HGET', jobKey(lane, id), 'token')
    if token then
      jobs[#jobs + 1] = { lane, id, token, stored }
    else
      redis.call('ZREM', busyKey(lane), id)
    end
  end
end
return jobs
