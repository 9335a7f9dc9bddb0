-- Reservations past their deadline. They stand until an outcome with their token ends them.
-- KEYS: xg:busy:{lane} of the first. ARGV: open, close, most per lane, lanes.
-- Returns flat per job: lane, id, token.
--#include keys
local now, found = nowMs(), {}
for at = 4, #ARGV do
  local lane = ARGV[at]
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', busyKey(lane), '-inf', now, 'LIMIT', 0, ARGV[3])) do
    local token = jobFields(lane, id, 'token')[1]
    if token then
      for _, part in ipairs({ lane, id, token }) do found[#found + 1] = part end
    else
      redis.call('ZREM', busyKey(lane), id)
    end
  end
end
return found
