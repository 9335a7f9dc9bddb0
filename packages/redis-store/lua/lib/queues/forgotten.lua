-- Forgets the turns of a lane.

-- A former version had the jobs in line in this hash, whose name another lane's set of waiting jobs may have.
function Forgotten.dropFormerTurns(lane)
  local former = Keys.of('xg:turns', lane)
  if redis.call('TYPE', former).ok == 'hash' then redis.call('DEL', former) end
end

function Forgotten.forgetTurns(lane)
  redis.call('DEL', Keys.turnHolders(lane), Keys.turnWaiting(lane), Keys.turnRunning(lane), Keys.turnDue(lane))
  Forgotten.dropFormerTurns(lane)
end
