-- Notes that a node is dead, before anything of it is reclaimed.
-- KEYS:
--   1 xg:nodes: sorted set
--   2 xg:deaths: hash
-- ARGV:
--   3 the dead node: string
--   4 the node that reclaims it: string
-- Returns 1, or 0 if another living node reclaims it.
if Nodes.reclaimerOf(ARGV[3]) ~= ARGV[4] and Nodes.isBeingReclaimed(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[3], (redis.call('ZSCORE', KEYS[1], ARGV[3]) or '') .. ' ' .. ARGV[4])
return 1
