-- Those of the jobs that a native worker finished and nobody settled.
-- KEYS: xg:busy:{lane}. ARGV: open, close, lane, ids.
--#include keys
--#include native
local lane, found = ARGV[3], {}
for at = 4, #ARGV do
  if isUnsettled(lane, ARGV[at]) then found[#found + 1] = ARGV[at] end
end
return found
