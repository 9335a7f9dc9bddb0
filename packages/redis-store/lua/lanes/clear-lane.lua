-- Ends jobs of a lane that are not running, dead ones and native workers' leftovers included. Once it holds nothing, the
-- lane is unregistered. Its ids are never reused, and it stays open or closed to consumers.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 most: integer
--   6 in a cluster: its number in the registry (0: none): integer
-- Returns the ids and, once it is unregistered, its number; in a cluster then how long what it left stays (ms) and its
-- counters. 0 where it has workers or running jobs.
--#include keys
--#include lanes
--#include registry
--#include jobs
--#include aside
--#include orphans
local lane, node, most = ARGV[3], ARGV[4], tonumber(ARGV[5])
if countedWorkers(lane) > 0 or redis.call('ZCARD', KEYS[1]) > 0 then return 0 end
local ids = {}

local function finish(id)
  local v = jobFields(lane, id, 'status', 'door', 'unique', 'jid', 'wait', 'keep')
  ids[#ids + 1] = id
  if v[1] then
    finishJob(lane, { id = id, door = v[2], unique = v[3], jid = v[4], waiting = v[5], keep = v[6] }, node, 'error', '')
  end
end

local function endPlaces()
  for _, band in ipairs(bands) do
    while #ids < most do
      local id = redis.call('RPOP', queueKey(lane, band)) or popAside(lane, band)
      if not id then break end
      finish(id)
    end
  end
  for _, key in ipairs({ queueKey(lane, 'scheduled'), deadKey(lane) }) do
    while #ids < most do
      local id = redis.call('ZPOPMIN', key)[1]
      if not id then break end
      finish(id)
    end
  end
end

endAll(lane, ids, most, endPlaces, finish)
if #ids >= most then return { ids } end
local turns = laneKey('xg:turns', lane)
redis.call('DEL', retriesKey(lane), bridgedKey(lane), turns, turns .. ':waiting', turns .. ':running')
noteCleared(lane)
local fields, now = allFields(lane), nowMs()
if not isCluster then return { ids, integer(unregisterLane(lane, fields, now) or 0) } end
fields.number = fields.number or ARGV[6]
local number, untilMs, totals = forgetLane(lane, fields, now)
return { ids, integer(number), integer(untilMs), unpack(totals) }
