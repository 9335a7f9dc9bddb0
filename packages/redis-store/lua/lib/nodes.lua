-- Nodes that come and go. Needs keys.lua. A declared death is `<heartbeat> <node that reclaims it>`, or empty when none
-- does; it stays until the reclaim is complete, or the node has learnt of it.
local nodesKey, deathsKey = broker .. ':nodes', broker .. ':deaths'

-- The node that reclaims a dead one, and the heartbeat that it saw last; nil for none.
local function reclaimerOf(node)
  local death = redis.call('HGET', deathsKey, node)
  local heartbeat, by = string.match(death or '', '^(%S*) (.+)$')
  return by, heartbeat
end

local function isBeingReclaimed(node)
  local by = reclaimerOf(node)
  return by and redis.call('ZSCORE', nodesKey, by) and redis.call('HEXISTS', deathsKey, by) == 0
end

-- Makes a node known before it leaves anything in the store. One that others have forgotten learns that by its next
-- heartbeat.
local function rejoin(node)
  if redis.call('ZADD', nodesKey, 'NX', integer(nowMs()), node) == 1 then redis.call('HSET', deathsKey, node, '') end
end

-- Forgets a node, with the long inputs of a call that was refused. A step takes up to 511: see steps.ts.
local function forgetNode(node)
  redis.call('ZREM', nodesKey, node)
  redis.call('HDEL', deathsKey, node)
  if isCluster then return end
  local inputs = {}
  for number = 1, 512 do
    inputs[number] = inputKey(node, number)
  end
  redis.call('UNLINK', unpack(inputs))
end
