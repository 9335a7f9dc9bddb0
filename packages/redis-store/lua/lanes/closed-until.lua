-- Until when by-name workers close a lane to consumers.
-- KEYS: xg:lane:{lane}. ARGV: open, close, lane, how long they do (ms).
-- Returns { until when (ms), `shut` where an operator closes it }.
--#include keys
--#include lanes
local untilMs, shut = closedUntil(ARGV[3], tonumber(ARGV[4]), nowMs())
return { integer(untilMs), shut }
