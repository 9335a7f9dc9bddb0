-- Remembers idle jobs that were met in no queue.
-- KEYS: xg:suspects:{lane}. ARGV: open, close, lane, ids.
--#include keys
--#include native
local lane, now = ARGV[3], nowMs()
for at = 4, #ARGV do
  addCandidate(lane, strayCandidate(ARGV[at], jobFields(lane, ARGV[at], 'enqueued')[1]), now)
end
return 1
