-- Ends jobs of a lane that are not running, dead ones and native workers' leftovers included. Once it holds nothing, the
-- lane is unregistered. Its ids are never reused, and it stays open or closed to consumers.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 most: integer
--   6 in a cluster: its number in the registry (0: none): integer
--   7 queue (its hint index, empty for none): string
-- Returns the ids and, once it is unregistered, its number; in a cluster then how long what it left stays (ms) and its
-- counters. 0 where it has workers or running jobs.
--#include keys
--#include lanes
--#include registry
--#include places
--#include jobs
--#include orphans
local lane, node, most = ARGV[3], ARGV[4], tonumber(ARGV[5])
if countedWorkers(lane) > 0 or redis.call('ZCARD', KEYS[1]) > 0 then return 0 end
local ids, now = {}, nowMs()
local act = actOn(lane, ARGV[7], now)

local function finish(job)
  ids[#ids + 1] = job.id
  if job.status then finishJob(lane, job, node, 'error', '') end
end

local function popDead()
  local id = redis.call('ZPOPMIN', deadKey(lane))[1]
  return id and readPlaced(act, id)
end

local function endPlaces()
  for _, place in ipairs({ 'high', 'normal', 'low', 'scheduled', 'dead' }) do
    while #ids < most do
      local job
      if place == 'dead' then
        job = popDead()
      else
        job = popPlaced(act, place)
      end
      if not job then break end
      finish(job)
    end
  end
end

endAll(act, ids, most, endPlaces, finish)
endAct(act)
if #ids >= most then return { ids } end
noteCleared(lane)
local fields = allFields(lane)
if not isCluster then return { ids, integer(unregisterLane(lane, fields, now) or 0) } end
fields.number = fields.number or ARGV[6]
local number, untilMs, totals = forgetLane(lane, fields, now)
return { ids, integer(number), integer(untilMs), unpack(totals) }
