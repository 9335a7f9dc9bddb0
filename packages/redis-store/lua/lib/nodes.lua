-- Nodes that come and go. A declared death is `<heartbeat> <node that reclaims it>`, or empty when none
-- does; it stays until the reclaim is complete, or the node has learnt of it.

-- The node that reclaims a dead one, and the heartbeat that it saw last; nil for none.
function Nodes.reclaimerOf(node)
  local death = redis.call('HGET', Keys.deaths, node)
  local heartbeat, by = string.match(death or '', '^(%S*) (.+)$')
  return by, heartbeat
end

function Nodes.isBeingReclaimed(node)
  local by = Nodes.reclaimerOf(node)
  return by and redis.call('ZSCORE', Keys.nodes, by) and redis.call('HEXISTS', Keys.deaths, by) == 0
end

-- Makes a node known before it leaves anything in the store. One that others have forgotten learns that by its next
-- heartbeat.
function Nodes.rejoin(node)
  if redis.call('ZADD', Keys.nodes, 'NX', Keys.integer(Keys.nowMs()), node) == 1 then
    redis.call('HSET', Keys.deaths, node, '')
  end
end

-- Forgets a node, with the long inputs of a call that was refused. A step takes up to 511: see steps.ts.
function Nodes.forgetNode(node)
  redis.call('ZREM', Keys.nodes, node)
  redis.call('HDEL', Keys.deaths, node)
  redis.call('HDEL', Keys.libraries, node)
  if Keys.isCluster then return end
  local inputs = {}
  for number = 1, 512 do
    inputs[number] = Keys.input(node, number)
  end
  redis.call('UNLINK', unpack(inputs))
end
