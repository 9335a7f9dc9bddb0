-- Ends the jobs in some places of a lane.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 most: integer
--   6 queue (its hint index, empty for none): string
--   7 and more: places (high, normal, low, scheduled, dead, busy, which comes last, where it is all of them):
--     strings
-- Returns their ids; fewer than the most means that the places are empty.
local lane, node, most, ids = ARGV[3], ARGV[4], tonumber(ARGV[5]), {}
local act = Places.actOn(lane, ARGV[6], Keys.nowMs())

local function finish(job)
  ids[#ids + 1] = job.id
  if job.status then Jobs.finishJob(lane, job, node, 'error', '') end
end

local pops = {
  dead = function() return redis.call('ZPOPMIN', Keys.dead(lane))[1] end,
  busy = function() return redis.call('ZRANGE', KEYS[1], 0, 0)[1] end,
}

-- The next job of a place, which it has left; nil where there is none.
local function pop(place)
  if not pops[place] then return Places.popPlaced(act, place) end
  local id = pops[place]()
  local job = id and Places.readPlaced(act, id)
  if job and place == 'busy' then Places.leftLease(act, job) end
  return job
end

local function endPlaces()
  for at = 7, #ARGV do
    while #ids < most do
      local job = pop(ARGV[at])
      if not job then break end
      finish(job)
    end
  end
end

if ARGV[#ARGV] == 'busy' then
  Orphans.endAll(act, ids, most, endPlaces, finish)
  if #ids < most then Orphans.noteCleared(lane) end
else
  endPlaces()
  Books.bookTaken(lane, 'deleted', #ids)
end
Places.endAct(act)
return ids
