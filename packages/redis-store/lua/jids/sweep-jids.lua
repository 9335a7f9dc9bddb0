-- Outside a cluster: walks a page of the index of jids, finds jobs that a native worker finished, and drops the entries
-- of jobs that are gone.
-- KEYS:
--   1 xg:jids: hash
-- ARGV:
--   3 cursor: integer
--   4 entries to look at: integer
-- Returns { next cursor (0: that was all), flat per job: lane, id }.
local page = redis.call('HSCAN', KEYS[1], ARGV[3], 'COUNT', ARGV[4])
local answer, pairs = { page[1] }, page[2]
for at = 1, #pairs, 2 do
  local id, lane = string.match(pairs[at + 1], '^(%d+) (.*)$')
  local v = id and Keys.jobFields(lane, id, 'door', 'token', 'settled', 'status')
  if not id or (not v[4] and redis.call('EXISTS', Keys.job(lane, id)) == 0) then
    redis.call('HDEL', KEYS[1], pairs[at])
  elseif Native.isUnsettled(lane, id, v) then
    answer[#answer + 1] = lane
    answer[#answer + 1] = id
  end
end
return answer
