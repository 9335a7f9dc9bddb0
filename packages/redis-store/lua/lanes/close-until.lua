-- Closes a lane to consumers because of workers of its function that were seen in another.
-- KEYS: xg:lane:{lane}. ARGV: open, close, lane, and what closed-until returned.
--#include keys
--#include lanes
closeUntil(ARGV[3], tonumber(ARGV[4]), ARGV[5])
return 1
