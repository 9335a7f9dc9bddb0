-- Shared by all parts of a step: arguments and time. Needs keys.lua and packed.lua.
local given = unpackedArguments(3)
local node, defaultReserveMs = given[1], given[2]
local graceMs = given[8]
local time = redis.call('TIME')
local now, nowMicros = time[1] * 1000 + math.floor(time[2] / 1000), time[1] * 1000000 + time[2]
-- Long strings stand outside the packed reply.
local reply = {}
reply[1] = ''

-- Queueing times of this step's jobs that the node has, by lane and id. Noted if there are claims.
local fresh, hasClaims = {}, false

-- How lanes are open to consumers (false: closed), where that was read.
local opennessBy = {}

-- Places in the arguments of the jobs that the node has, by lane.
local keptAt = {}

-- Runs the part of one lane; returns its error, so that the others still run.
local function guarded(part, ...)
  local isSound, result = pcall(part, ...)
  if isSound then return result end
  return type(result) == 'table' and result.err or result
end
