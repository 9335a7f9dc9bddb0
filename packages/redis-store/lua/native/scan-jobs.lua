-- Looks at jobs of lanes for orphans of native programs, and corrects their expiry. Ends what is left of cleared jobs.
-- KEYS:
--   1 xg:suspects:{lane} of the first: sorted set
-- ARGV:
--   3 1 to remember candidates: flag
--   4 and more: per lane its name, the number of its ids, the ids: strings
-- Returns per lane { 1 if anything here may have been left, number of unsettled ids, those ids ..., idle ids that no
-- queue's next job stands before ... }.
local remembers, now = ARGV[3] == '1', Keys.nowMs()

local function endCleared(lane, id)
  local v = Keys.jobFields(lane, id, 'door', 'unique', 'jid', 'wait', 'keep')
  local job = { id = id, door = v[1], unique = v[2], jid = v[3], waiting = v[4], keep = v[5] }
  Jobs.finishJob(lane, job, '', 'error', '')
end

-- 'suspicious' for a job that a native program may have left, 'idle' if nothing but its place is in doubt.
local function orphanKind(lane, id, v, cleared)
  if v[2] or (v[4] ~= 'busy' and v[4] ~= 'idle') then return end
  if tonumber(id) <= cleared then
    endCleared(lane, id)
  elseif v[4] == 'busy' then
    Native.addCandidate(lane, Native.busyCandidate(id, v[5], v[6]), now)
    return 'suspicious'
  elseif
    not Order.seemsQueued(lane, id, v[7], v[8]) and not redis.call('ZSCORE', Keys.queue(lane, 'scheduled'), id)
  then
    return 'idle'
  end
end

-- Looks at the jobs of one lane, whose ids are ARGV[first] to ARGV[last].
local function scan(lane, first, last)
  local cleared = remembers and tonumber(redis.call('HGET', Keys.meta(lane), 'cleared') or 0) or 0
  local unsettled, idle, isSuspicious = {}, {}, 0
  for at = first, last do
    local id = ARGV[at]
    local v = Keys.jobFields(
      lane,
      id,
      'door',
      'token',
      'settled',
      'status',
      'status:dividend',
      'status:divisor',
      'level',
      'enqueued'
    )
    if Native.isUnsettled(lane, id, v) then
      unsettled[#unsettled + 1] = id
    else
      Native.mendTime(lane, id, v)
    end
    local kind = remembers and orphanKind(lane, id, v, cleared)
    if kind then isSuspicious = 1 end
    if kind == 'idle' then idle[#idle + 1] = id end
  end
  local answer = { isSuspicious, #unsettled }
  for _, id in ipairs(unsettled) do
    answer[#answer + 1] = id
  end
  for _, id in ipairs(idle) do
    answer[#answer + 1] = id
  end
  return answer
end

local answers, at = {}, 4
while at < #ARGV do
  local first = at + 2
  local last = first + tonumber(ARGV[at + 1]) - 1
  answers[#answers + 1] = scan(ARGV[at], first, last)
  at = last + 1
end
return answers
