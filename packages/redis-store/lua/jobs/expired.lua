-- Lists expired leases. They stand until an outcome with their token ends them.
-- KEYS:
--   1 xg:busy:{lane} of the first: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 most per lane: integer
--   4 and more: lanes: strings
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
