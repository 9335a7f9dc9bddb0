-- Decides if a route refuses a job now.

-- True if a worker that may get the lane's jobs is there. `consumers`: auto where the automatic rule gives them jobs.
local function isAttended(lane, consumers)
  local meta = redis.call('HMGET', Keys.meta(lane), 'open', 'closed', 'consumers', 'labelled')
  local gate = Lanes.gateOf(meta[1], meta[2], Step.now)
  return Lanes.ableWorkers(
    Keys.countedWorkers(lane),
    tonumber(meta[3] or 0),
    tonumber(meta[4] or 0),
    gate,
    consumers == 'auto'
  ) > 0
end

-- Why a route refuses a job now, or nil: 0 for too many that wait, `unattended`. Its conditions stand from `at` to `upTo`;
-- `sums`: what is known of the lane so far; `queued`: jobs of this step that are in none of its lists yet; `inTurns`: those that
-- wait for their turn.
function Admission.refusalByRoute(lane, at, upTo, sums, aside, queued, inTurns)
  local most, consumers = Step.given[at], Step.given[at + 1]
  if consumers ~= '' then
    if sums.isAttended == nil then sums.isAttended = isAttended(lane, consumers) end
    if not sums.isAttended then return 'unattended' end
  end
  if most == 0 then return nil end
  if not sums.waiting then
    sums.waiting = Submissions.waitingIn(lane, aside) - inTurns
    for other = at + 2, upTo do
      sums.waiting = sums.waiting
        + Submissions.waitingIn(Step.given[other], redis.call('HGET', Keys.meta(Step.given[other]), 'aside'))
    end
  end
  if sums.waiting + queued + inTurns >= most then return 0 end
end
