-- Leaves out ids that may have been lost with the end of the store's data, in lanes whose last id is of an earlier epoch.
-- KEYS:
--   1 xg:lane:{lane} of the first lane: hash
-- ARGV:
--   3 the store's epoch: integer
--   4 and more: lanes: strings
-- Returns 1.
--#include keys
--#include ids
local epoch = tonumber(ARGV[3])
for at = 4, #ARGV do
  local lane = ARGV[at]
  -- Where another program has put another type in its place, nothing can be noted.
  local noted = redis.pcall('HGET', metaKey(lane), 'epoch')
  local epochs = type(noted) == 'table' and 0 or epoch - tonumber(noted or 0)
  -- A counter that gives no ids is left to the next submission, which says so.
  if epochs > 0 and takeIds(lane, 0, epochs) then redis.call('HSET', metaKey(lane), 'epoch', integer(epoch)) end
end
return 1
