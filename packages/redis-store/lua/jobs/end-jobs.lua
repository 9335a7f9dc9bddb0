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
--#include keys
--#include places
--#include jobs
--#include orphans
local lane, node, most, ids = ARGV[3], ARGV[4], tonumber(ARGV[5]), {}
local act = actOn(lane, ARGV[6], nowMs())

local function finish(job)
  ids[#ids + 1] = job.id
  if job.status then finishJob(lane, job, node, 'error', '') end
end

local pops = {
  dead = function() return redis.call('ZPOPMIN', deadKey(lane))[1] end,
  busy = function() return redis.call('ZRANGE', KEYS[1], 0, 0)[1] end,
}

-- The next job of a place, which it has left; nil where there is none.
local function pop(place)
  if not pops[place] then return popPlaced(act, place) end
  local id = pops[place]()
  local job = id and readPlaced(act, id)
  if job and place == 'busy' then leftLease(act, job) end
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
  endAll(act, ids, most, endPlaces, finish)
  if #ids < most then noteCleared(lane) end
else
  endPlaces()
  bookTaken(lane, 'deleted', #ids)
end
endAct(act)
return ids
