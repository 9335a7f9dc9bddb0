-- Ends the reclaim of a dead node. One that has sent a heartbeat meanwhile stays, and learns by the next one that it was
-- reclaimed.
-- KEYS:
--   1 xg:nodes: sorted set
--   2 xg:deaths: hash
-- ARGV:
--   3 the dead node: string
--   4 the node that reclaimed it: string
--   5 1 if nothing is left: flag
-- Returns 1.
local node = ARGV[3]
local by, heartbeat = Nodes.reclaimerOf(node)
-- Another node took over.
if by and by ~= ARGV[4] then return 1 end
local last = redis.call('ZSCORE', KEYS[1], node) or ''
if last == '' or (ARGV[5] == '1' and heartbeat == last) then
  Nodes.forgetNode(node)
else
  redis.call('HSET', KEYS[2], node, '')
end
return 1
