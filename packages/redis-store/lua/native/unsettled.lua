-- Finds jobs that a native worker finished and that nobody settled.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 and more: ids: strings
-- Returns their ids.
local lane, found = ARGV[3], {}
for at = 4, #ARGV do
  if Native.isUnsettled(lane, ARGV[at]) then found[#found + 1] = ARGV[at] end
end
return found
