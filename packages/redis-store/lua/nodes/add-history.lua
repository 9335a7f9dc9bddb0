-- Adds to the sums of a minute and of its hour.
-- KEYS:
--   1 xg:history:minute:<start>: hash
--   2 xg:history:hour:<start>: hash
-- ARGV:
--   3, 4 for how long the minute and the hour are kept: integer, seconds
--   5 and more, per sum: name, integer
-- Returns 1.
for key = 1, 2 do
  for at = 5, #ARGV, 2 do
    redis.call('HINCRBY', KEYS[key], ARGV[at], ARGV[at + 1])
  end
  redis.call('EXPIRE', KEYS[key], ARGV[key + 2])
end
return 1
