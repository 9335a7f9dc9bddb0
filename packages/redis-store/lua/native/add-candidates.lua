-- Notes idle jobs that were found in no queue.
-- KEYS:
--   1 xg:suspects:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 and more: ids: strings
-- Returns 1.
local lane, now = ARGV[3], Keys.nowMs()
for at = 4, #ARGV do
  Native.addCandidate(lane, Native.strayCandidate(ARGV[at], Keys.jobFields(lane, ARGV[at], 'enqueued')[1]), now)
end
return 1
