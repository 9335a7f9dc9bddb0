-- Looks at jobs of one lane for what native programs left, and gives each the end of its time, or none, that it is
-- to have.
-- KEYS: xg:suspects:{lane}. ARGV: open, close, lane, 1 to remember suspects, ids.
-- Returns { number of unsettled ids, those ids ..., idle ids that are not scheduled ... }.
--#include keys
--#include jobs
--#include native
local lane, suspects, now = ARGV[3], ARGV[4] == '1', nowMs()
local unsettled, idle = {}, {}
for at = 5, #ARGV do
  local id = ARGV[at]
  if isUnsettled(lane, id) then
    unsettled[#unsettled + 1] = id
  else
    mendTime(lane, id)
  end
  if suspects then
    local v = jobFields(lane, id, 'status', 'token', 'status:dividend', 'status:divisor')
    if v[1] == 'busy' and not v[2] then
      suspect(lane, busySuspect(id, v[3], v[4]), now)
    elseif v[1] == 'idle' and not v[2] and not redis.call('ZSCORE', queueKey(lane, 'scheduled'), id) then
      idle[#idle + 1] = id
    end
  end
end
local answer = { #unsettled }
for _, id in ipairs(unsettled) do answer[#answer + 1] = id end
for _, id in ipairs(idle) do answer[#answer + 1] = id end
return answer
