-- Tells until when by-name workers close a lane to consumers.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- ARGV:
--   3 lane: string
--   4 how long they do: integer, ms
-- Returns { until when (ms), `shut` where an operator closes it }.
--#include keys
--#include lanes
local untilMs, shut = closedUntil(ARGV[3], tonumber(ARGV[4]), nowMs())
return { integer(untilMs), shut }
