-- Leaves out ids that may have been lost with the end of the store's data, in lanes whose last id is of an earlier epoch.
-- KEYS:
--   1 xg:lane:{lane} of the first lane: hash
-- ARGV:
--   3 the store's epoch: integer
--   4 and more: lanes: strings
-- Returns 1.
local epoch = tonumber(ARGV[3])
for at = 4, #ARGV do
  -- A counter that gives no ids is left to the next submission, which says so.
  Ids.takeIdsOf(epoch, ARGV[at], 0)
end
return 1
