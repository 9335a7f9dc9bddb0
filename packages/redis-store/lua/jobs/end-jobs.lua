-- Ends the jobs in some places of a lane.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 most: integer
--   6 and more: places (high, normal, low, scheduled, dead, busy, which comes last, where it is all of them):
--     strings
-- Returns their ids; fewer than the most means that the places are empty.
--#include keys
--#include levels
--#include aside
--#include jobs
--#include orphans
local lane, node, most, ids = ARGV[3], ARGV[4], tonumber(ARGV[5]), {}

local function finish(id, isQueued)
  local v = jobFields(lane, id, 'status', 'door', 'unique', 'jid', 'wait', 'keep', 'level')
  ids[#ids + 1] = id
  if isQueued and v[7] then tookLevel(lane, v[7]) end
  if v[1] then
    finishJob(lane, { id = id, door = v[2], unique = v[3], jid = v[4], waiting = v[5], keep = v[6] }, node, 'error', '')
  end
end

local function popScheduled(from, upTo)
  local key = queueKey(lane, 'scheduled')
  local id = redis.call('ZRANGEBYSCORE', key, from, upTo, 'LIMIT', 0, 1)[1]
  if id then redis.call('ZREM', key, id) end
  return id
end

local sets = { scheduled = queueKey(lane, 'scheduled'), dead = deadKey(lane), busy = KEYS[1] }
local function endPlaces()
  for at = 6, #ARGV do
    local place = ARGV[at]
    while #ids < most do
      local id, isListed
      if place == 'scheduled' then
        id = popScheduled('-inf', '(5e13')
        if id then forgetRetry(lane, id) end
      elseif sets[place] then
        id = redis.call('ZPOPMIN', sets[place])[1]
      else
        id = redis.call('RPOP', queueKey(lane, place))
        isListed = id
        if not id then id = popAside(lane, place) end
        -- Jobs that wait for their turn stand there: see turns.lua.
        if not id and place == 'normal' then id = popScheduled(5e13, '+inf') end
      end
      if not id then break end
      finish(id, isListed)
    end
  end
end

if ARGV[#ARGV] == 'busy' then
  endAll(lane, ids, most, endPlaces, finish)
  if #ids < most then noteCleared(lane) end
else
  endPlaces()
  bookTaken(lane, 'deleted', #ids)
end
return ids
