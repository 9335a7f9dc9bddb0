-- Reservations past their deadline. They stand until an outcome with their token ends them.
-- KEYS: xg:busy:{lane} of the first. ARGV: open, close, most per lane, lanes.
-- Returns packed flat per job: lane, id, token, fields and values; and what stands beside it.
--#include keys
--#include packed
local now, jobs, reply = nowMs(), {}, { '' }
for at = 4, #ARGV do
  local lane = ARGV[at]
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', busyKey(lane), '-inf', now, 'LIMIT', 0, ARGV[3])) do
    local token = jobFields(lane, id, 'token')[1]
    if token then
      local stored = redis.call('HGETALL', jobKey(lane, id))
      setAside(stored, reply)
      for _, part in ipairs({ lane, id, token, stored }) do jobs[#jobs + 1] = part end
    else
      redis.call('ZREM', busyKey(lane), id)
    end
  end
end
reply[1] = cmsgpack.pack(jobs)
return reply
