-- Notes idle jobs that were found in no queue.
-- KEYS:
--   1 xg:suspects:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 and more: ids: strings
-- Returns 1.
--#include keys
--#include native
local lane, now = ARGV[3], nowMs()
for at = 4, #ARGV do
  addCandidate(lane, strayCandidate(ARGV[at], jobFields(lane, ARGV[at], 'enqueued')[1]), now)
end
return 1
