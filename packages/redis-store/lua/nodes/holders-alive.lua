-- Notes of holders of leases that they are there, or that they have gone. One without leases, or that went before, is left.
-- KEYS:
--   1 xg:holders: sorted set
-- ARGV:
--   3 1 if they have gone: flag
--   4 and more: holders: strings
-- Returns 1.
local hasGone = ARGV[3] == '1'
local goneMs = Keys.integer(Keys.nowMs() + (hasGone and 0 or 1000 * Holders.leasesSeconds))
for at = 4, #ARGV do
  if hasGone then
    redis.call('ZADD', KEYS[1], 'XX', 'LT', goneMs, ARGV[at])
  else
    redis.call('ZADD', KEYS[1], 'XX', goneMs, ARGV[at])
  end
end
return 1
