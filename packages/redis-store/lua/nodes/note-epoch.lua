-- Notes the data that the servers have: one that restarted, or took the place of another, may lack the last writes. Where it
-- is not known yet the epoch is raised, so that ids of jobs and numbers of lanes that were lost are not given again.
-- KEYS:
--   1 xg:epochs: sorted set, replication ids of servers by the epoch in which they were noted
--   2 xg:lane-number: string
-- ARGV:
--   3 the last epoch that the node knows (-1: none): integer
--   4 how many lane numbers an epoch skips: integer
--   5 and more: replication ids of the servers: strings
-- Returns the epoch: 0 while the store has the data that its first node found.
local most = 64
local known = tonumber(ARGV[3])
local stored = tonumber(redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2])
local isNew = not stored or stored < known
for at = 5, #ARGV do
  isNew = isNew or not redis.call('ZSCORE', KEYS[1], ARGV[at])
end
if not isNew then return stored end
local epoch = 0
if stored or known >= 0 then
  -- A store that loses the raised epoch, and is raised again, hardly takes the same.
  local step = 1 + (tonumber(string.sub(ARGV[5], 1, 1), 16) or 0)
  epoch = math.max(known, stored or 0) + step
  redis.call('INCRBY', KEYS[2], step * tonumber(ARGV[4]))
end
for at = 5, #ARGV do
  redis.call('ZADD', KEYS[1], epoch, ARGV[at])
end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -most - 1)
return epoch
