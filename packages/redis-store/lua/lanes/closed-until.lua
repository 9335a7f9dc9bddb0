-- Tells until when by-name workers close a lane to consumers.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- ARGV:
--   3 lane: string
--   4 how long they do: integer, ms
-- Returns { until when (ms), `shut` where an operator closes it }.
local untilMs, shut = Lanes.closedUntil(ARGV[3], tonumber(ARGV[4]), Keys.nowMs())
return { Keys.integer(untilMs), shut }
