-- A client of this node stops waiting, once per id. A foreground job without waiters is dropped at the next claim.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 and more: ids: strings
-- Returns 1.
local lane, node = ARGV[3], ARGV[4]
for at = 5, #ARGV do
  local key = Keys.job(lane, ARGV[at])
  local waiting = Fields.wait(redis.call('HGET', key, 'wait'))
  if waiting then redis.call('HSET', key, 'wait', Waits.countWait(waiting, node, -1) or '') end
end
return 1
