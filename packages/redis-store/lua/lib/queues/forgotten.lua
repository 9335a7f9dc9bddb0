-- Forgets the turns of a lane. Needs keys.lua.

-- A former version had the jobs in line in this hash, whose name another lane's set of waiting jobs may have.
local function dropFormerTurns(lane)
  local former = laneKey('xg:turns', lane)
  if redis.call('TYPE', former).ok == 'hash' then redis.call('DEL', former) end
end

local function forgetTurns(lane)
  redis.call('DEL', turnHoldersKey(lane), turnWaitingKey(lane), turnRunningKey(lane), turnDueKey(lane))
  dropFormerTurns(lane)
end
