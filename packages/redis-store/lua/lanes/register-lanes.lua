-- Gives lanes their numbers, each once, and announces new ones to all nodes. Workers of a function close a new lane of it as
-- they close its home lane. Not in a cluster.
-- KEYS:
--   1 xg:lanes: hash
-- ARGV:
--   3 how long by-name workers close a lane: integer, ms
--   4 and more, per lane:
--     lane: string
--     the function's home lane (empty: no other): string
-- Returns per lane its number, 0 when there are too many, or why it is refused; the others are registered all the same.
local numbers, graceMs = {}, tonumber(ARGV[3])
for at = 4, #ARGV, 2 do
  local isSound, number = pcall(Registry.registerLane, ARGV[at], ARGV[at + 1], graceMs)
  numbers[#numbers + 1] = isSound and (number or 0) or number.err or number
end
return numbers
