-- Finds the lanes that native workers are counted for.
-- KEYS:
--   1 count:{lane} of the first: string
-- ARGV:
--   3 1 to remember since when their next job stands still: flag
--   4 and more: lanes: strings
-- Returns those lanes.
local worked, now, counts = {}, Keys.nowMs(), {}
for at = 4, #ARGV do
  counts[at - 3] = Keys.of('count', ARGV[at])
end
if redis.call('EXISTS', unpack(counts)) == 0 then return worked end
for at = 4, #ARGV do
  local lane = ARGV[at]
  if redis.call('EXISTS', counts[at - 3]) == 1 then
    if Native.nativeWorkers(lane) > 0 then worked[#worked + 1] = lane end
    -- A lane where another program has put another type in the place of a queue does not stop the others.
    if ARGV[3] == '1' then pcall(Native.watchLine, lane, now) end
  end
end
return worked
