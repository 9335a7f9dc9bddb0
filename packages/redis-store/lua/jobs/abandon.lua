-- A client of this node waits no longer, once per id. A foreground job that nobody waits for is not
-- run: claim drops it.
-- KEYS: xg:busy:{lane}. ARGV: open, close, lane, node, ids.
--#include keys
--#include waits
local lane, node = ARGV[3], ARGV[4]
for at = 5, #ARGV do
  local key = jobKey(lane, ARGV[at])
  local waiting = redis.call('HGET', key, 'wait')
  if waiting then
    local left = countWait(waiting, node, -1)
    if left then redis.call('HSET', key, 'wait', left) else redis.call('HDEL', key, 'wait') end
  end
end
return 1
