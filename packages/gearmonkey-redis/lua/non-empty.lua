-- Those of the lanes that have queued jobs. They are put into the hint index of their queue, so that who
-- is told of them finds them: a native client pushes past it.
-- KEYS: queue:{lane}:normal of the first. ARGV: open, close, then per lane: lane, queue (its hint index,
-- empty for none).
--#include keys
--#include levels
local found, now = {}, nowMs()
for at = 3, #ARGV, 2 do
  local lane = ARGV[at]
  if redis.call('EXISTS', queueKey(lane, 'high'), queueKey(lane, 'normal'), queueKey(lane, 'low')) > 0 then
    found[#found + 1] = lane
    hintReady(ARGV[at + 1], lane, now)
  end
end
return found
