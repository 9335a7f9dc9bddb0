-- Forgets a node that has left.
-- KEYS:
--   1 xg:nodes: sorted set
-- ARGV:
--   3 node: string
-- Returns 1.
Nodes.forgetNode(ARGV[3])
return 1
