-- A client of this node waits no longer, once per id. A foreground job that nobody waits for is not
-- run: claim drops it.
-- KEYS: xg:busy:{lane}. ARGV: open, close, lane, node, ids.
--#include keys
local lane, node = ARGV[3], ARGV[4]
for at = 5, #ARGV do
  local key = jobKey(lane, ARGV[at])
  local waiting = redis.call('HGET', key, 'wait')
  if waiting then
    local left, removed = {}, false
    for other in string.gmatch(waiting, '[^,]+') do
      if other == node and not removed then removed = true else left[#left + 1] = other end
    end
    if #left > 0 then
      redis.call('HSET', key, 'wait', table.concat(left, ','))
    else
      redis.call('HDEL', key, 'wait')
    end
  end
end
return 1
