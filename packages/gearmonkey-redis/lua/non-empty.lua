-- Those of the lanes that have queued jobs.
-- KEYS: queue:{lane}:normal of the first. ARGV: open, close, lanes.
--#include keys
local found = {}
for at = 3, #ARGV do
  local lane = ARGV[at]
  if redis.call('EXISTS', queueKey(lane, 'high'), queueKey(lane, 'normal'), queueKey(lane, 'low')) > 0 then
    found[#found + 1] = lane
  end
end
return found
