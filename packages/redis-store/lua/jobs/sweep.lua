-- Walks a page of an index of unfinished jobs, finds those that a native worker finished, and drops the entries of jobs
-- that are gone. Jids of a lane, which former versions kept outside a cluster, move to the common index.
-- KEYS:
--   1 xg:unique:{lane} or xg:jid:{lane}: hash
-- ARGV:
--   3 lane: string
--   4 cursor: integer
--   5 entries to look at: integer
-- Returns { next cursor (0: that was all), ids ... }.
local lane = ARGV[3]
local moves = KEYS[1] == Keys.jid(lane) and not Keys.isCluster
local page = redis.call('HSCAN', KEYS[1], ARGV[4], 'COUNT', ARGV[5])
local answer, pairs = { page[1] }, page[2]
for at = 1, #pairs, 2 do
  local id = pairs[at + 1]
  local v = Keys.jobFields(lane, id, 'door', 'token', 'settled', 'status')
  local isThere = v[4] or redis.call('EXISTS', Keys.job(lane, id)) == 1
  if Native.isUnsettled(lane, id, v) then answer[#answer + 1] = id end
  if isThere and moves then redis.call('HSETNX', Keys.jids(), pairs[at], id .. ' ' .. lane) end
  if moves or not isThere then redis.call('HDEL', KEYS[1], pairs[at]) end
end
return answer
