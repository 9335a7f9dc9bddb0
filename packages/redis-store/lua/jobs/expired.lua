-- Lists expired leases. They stand until an outcome with their token ends them.
-- KEYS:
--   1 xg:busy:{lane} of the first: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 most per lane: integer
--   4 and more: lanes: strings
-- Returns flat per job: lane, id, token.
--#include keys
local now, found, leases = nowMs(), {}, {}
for at = 4, #ARGV do
  leases[at - 3] = busyKey(ARGV[at])
end
if redis.call('EXISTS', unpack(leases)) == 0 then return found end
for at = 4, #ARGV do
  local lane = ARGV[at]
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases[at - 3], '-inf', now, 'LIMIT', 0, ARGV[3])) do
    local token = jobFields(lane, id, 'token')[1]
    if token then
      for _, part in ipairs({ lane, id, token }) do
        found[#found + 1] = part
      end
    else
      redis.call('ZREM', busyKey(lane), id)
    end
  end
end
return found
