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
local lane, node, most = ARGV[3], ARGV[4], tonumber(ARGV[5])
if Keys.countedWorkers(lane) > 0 or redis.call('ZCARD', KEYS[1]) > 0 then return 0 end
local ids, now = {}, Keys.nowMs()
local act = Places.actOn(lane, ARGV[7], now)

local function finish(job)
  ids[#ids + 1] = job.id
  if job.status then Jobs.finishJob(lane, job, node, 'error', '') end
end

local function popDead()
  local id = redis.call('ZPOPMIN', Keys.dead(lane))[1]
  return id and Places.readPlaced(act, id)
end

local function endPlaces()
  for _, place in ipairs({ 'high', 'normal', 'low', 'scheduled', 'dead' }) do
    while #ids < most do
      local job
      if place == 'dead' then
        job = popDead()
      else
        job = Places.popPlaced(act, place)
      end
      if not job then break end
      finish(job)
    end
  end
end

Orphans.endAll(act, ids, most, endPlaces, finish)
Places.endAct(act)
if #ids >= most then return { ids } end
Orphans.noteCleared(lane)
local fields = Registry.allFields(lane)
if not Keys.isCluster then return { ids, Keys.integer(Registry.unregisterLane(lane, fields, now) or 0) } end
fields.number = fields.number or ARGV[6]
local number, untilMs, totals = Registry.forgetLane(lane, fields, now)
return { ids, Keys.integer(number), Keys.integer(untilMs), unpack(totals) }
