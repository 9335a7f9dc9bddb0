-- Takes a lane from the registry after its hash was forgotten, unless it has been registered again.
-- KEYS:
--   1 {xg}:lanes: hash
-- ARGV:
--   3 lane: string
--   4 the number that it had: integer
--   5 how long what it left stays (0: it left nothing): integer, ms
--   6 and more: its counters, in the order of registry.lua: integers
-- Returns former lanes whose hashes are to go, since there are too many.
local totals = {}
for at = 6, #ARGV do
  totals[#totals + 1] = tonumber(ARGV[at])
end
Registry.withdrawLane(ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), totals)
return Registry.dropFormer(Keys.nowMs())
