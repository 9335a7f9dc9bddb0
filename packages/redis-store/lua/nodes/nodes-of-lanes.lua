-- Finds the nodes with worker counts in lanes, and those whose by-name workers have had a job of them for longest.
-- KEYS:
--   1 xg:lane:{lane} of the first: hash
-- ARGV:
--   3 and more: lanes: strings
-- Returns a list of nodes.
--#include keys
local found, seen = {}, {}

local function note(node)
  if not node or seen[node] then return end
  seen[node], found[#found + 1] = true, node
end

-- Leases without a deadline come last, and the first of them at the very end: see noDeadline in leases.lua.
local oldest = 20
for at = 3, #ARGV do
  local lane = ARGV[at]
  -- Lists are empty where another program has put another type in the place of a key.
  for _, field in ipairs(redis.pcall('HKEYS', metaKey(lane))) do
    note(string.match(field, '^[ncl]:(.+)$'))
  end
  for _, id in ipairs(redis.pcall('ZRANGE', busyKey(lane), -oldest, -1)) do
    note(string.match(jobFields(lane, id, 'token')[1] or '', '^n(.+)%-%d+$'))
  end
end
return found
