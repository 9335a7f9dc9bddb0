-- Shared by all parts of a step: its arguments, its time, and who listens. Needs keys.lua and packed.lua.
local given = unpackedArguments(3)
local node, defaultReserveMs, deadMost, deadSeconds = unpack(given, 1, 4)
local time = redis.call('TIME')
local now, nowMicros = time[1] * 1000 + math.floor(time[2] / 1000), time[1] * 1000000 + time[2]
-- Long strings stand beside the packed reply.
local reply = { '' }

-- When jobs of this step were queued, by lane and id: those that the node has. Noted where there are claims.
local fresh, hasClaims = {}, false

-- Where the arguments say of a lane which jobs the node has.
local keptAt = {}

-- Lanes whose channel the node itself listens on. Absent where what is published must be published for all: in a
-- cluster and with replicas the server does not know all who listen.
local ownLanes

-- Returns true where somebody else than this node may listen to a lane: nobody has to be told what nobody hears.
local heard = {}
local function isHeard(lane)
  if not ownLanes then return true end
  if heard[lane] == nil then
    if heard[''] == nil then heard[''] = redis.call('PUBSUB', 'NUMPAT') > 0 end
    local counts = redis.call('PUBSUB', 'NUMSUB', nodeChannel(node), channelOf(lane))
    -- The connection that listens may be gone, and its place be taken by another's.
    local own = ownLanes[lane] and counts[2] > 0 and 1 or 0
    heard[lane] = heard[''] or counts[4] > own
  end
  return heard[lane]
end

-- Runs the part of one lane. What refuses it does not refuse the others: returns its error instead.
local function guarded(part, ...)
  local isSound, result = pcall(part, ...)
  if isSound then return result end
  return type(result) == 'table' and result.err or result
end
