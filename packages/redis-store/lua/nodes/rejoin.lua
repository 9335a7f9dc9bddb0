-- Makes a node known before it leaves anything in another slot of a cluster.
-- KEYS:
--   1 xg:nodes: sorted set
-- ARGV:
--   3 node: string
-- Returns 1.
Nodes.rejoin(ARGV[3])
return 1
