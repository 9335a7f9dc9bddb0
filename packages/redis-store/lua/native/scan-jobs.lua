-- Looks at jobs of one lane for orphans of native programs, and corrects their expiry. Ends what is left of cleared
-- jobs.
-- KEYS:
--   1 xg:suspects:{lane}: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 lane: string
--   4 1 to remember candidates: flag
--   5 and more: ids: strings
-- Returns { 1 if anything here may have been left, number of unsettled ids, those ids ..., idle ids that no queue's
-- next job stands before ... }.
--#include keys
--#include levels
--#include order
--#include jobs
--#include native
local lane, remembers, now = ARGV[3], ARGV[4] == '1', nowMs()
local unsettled, idle, isSuspicious = {}, {}, 0
local cleared = remembers and tonumber(redis.call('HGET', metaKey(lane), 'cleared') or 0) or 0

local function endCleared(id)
  local v = jobFields(lane, id, 'door', 'unique', 'jid', 'wait', 'keep')
  local job = { id = id, door = v[1], unique = v[2], jid = v[3], waiting = v[4], keep = v[5] }
  finishJob(lane, job, '', 'error', '')
end

local function lookForOrphan(id, v)
  if v[2] or (v[4] ~= 'busy' and v[4] ~= 'idle') then return end
  if tonumber(id) <= cleared then
    endCleared(id)
  elseif v[4] == 'busy' then
    isSuspicious = 1
    addCandidate(lane, busyCandidate(id, v[5], v[6]), now)
  elseif not seemsQueued(lane, id, v[7], v[8]) and not redis.call('ZSCORE', queueKey(lane, 'scheduled'), id) then
    isSuspicious = 1
    idle[#idle + 1] = id
  end
end

for at = 5, #ARGV do
  local id = ARGV[at]
  local v = jobFields(lane, id, 'door', 'token', 'settled', 'status', 'status:dividend', 'status:divisor', 'level',
    'enqueued')
  if isUnsettled(lane, id, v) then
    unsettled[#unsettled + 1] = id
  else
    mendTime(lane, id, v)
  end
  if remembers then lookForOrphan(id, v) end
end
local answer = { isSuspicious, #unsettled }
for _, id in ipairs(unsettled) do answer[#answer + 1] = id end
for _, id in ipairs(idle) do answer[#answer + 1] = id end
return answer
