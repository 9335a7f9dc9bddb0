-- Shared by all parts of a step: arguments, time, and listeners. Needs keys.lua and packed.lua.
local given = unpackedArguments(3)
local node, defaultReserveMs, deadMost, deadSeconds = unpack(given, 1, 4)
local time = redis.call('TIME')
local now, nowMicros = time[1] * 1000 + math.floor(time[2] / 1000), time[1] * 1000000 + time[2]
-- Long strings stand beside the packed reply.
local reply = {}
reply[1] = ''

-- Queueing times of this step's jobs that the node has, by lane and id. Noted if there are claims.
local fresh, hasClaims = {}, false

-- Places in the arguments of the jobs that the node has, by lane.
local keptAt = {}

-- Lanes whose channel this node listens on. Absent if everything must be published: in a cluster and with replicas the
-- server does not know all listeners.
local ownLanes

-- True if another node may listen to a lane: otherwise nothing is published, which takes 7 % of Redis' instructions off a
-- Gearman job in a step with 16 of each kind, and 4 % off a Faktory job.
local heard = {}
local function isHeard(lane)
  if not ownLanes then return true end
  if heard[lane] == nil then
    if heard[''] == nil then heard[''] = redis.call('PUBSUB', 'NUMPAT') > 0 end
    local counts = redis.call('PUBSUB', 'NUMSUB', nodeChannel(node), channelOf(lane))
    -- The node's own connection may be gone, and another's be counted in its place.
    local own = ownLanes[lane] and counts[2] > 0 and 1 or 0
    heard[lane] = heard[''] or counts[4] > own
  end
  return heard[lane]
end

-- Runs the part of one lane; returns its error, so that the others still run.
local function guarded(part, ...)
  local isSound, result = pcall(part, ...)
  if isSound then return result end
  return type(result) == 'table' and result.err or result
end
