-- Shared by all parts of a step: its arguments, its time, and what it finds out once.

-- `given`: the arguments, see step.lua. `reply`: long strings stand outside its packed part. `fresh`: queueing times of this
-- step's jobs that the node has, by lane and id, noted if there are claims. `opennessBy`: how lanes are open to consumers (false:
-- closed), where that was read. `keptAt`: places in the arguments of the jobs that the node has, by lane.
function Step.begin(given)
  Step.given, Step.node, Step.defaultReserveMs, Step.graceMs = given, given[1], given[2], given[8]
  local time = redis.call('TIME')
  Step.now, Step.nowMicros = time[1] * 1000 + math.floor(time[2] / 1000), time[1] * 1000000 + time[2]
  Step.reply, Step.fresh, Step.hasClaims, Step.opennessBy, Step.keptAt = { '' }, {}, false, {}, {}
  Handover.begin()
  Leases.begin(given[5])
  News.begin()
  Outcomes.begin()
  Submissions.begin()
end

-- Runs the part of one lane; returns its error, so that the others still run.
function Step.guarded(part, ...)
  local isSound, result = pcall(part, ...)
  if isSound then return result end
  return type(result) == 'table' and result.err or result
end
