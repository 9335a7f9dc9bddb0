-- Lists the first jobs of a set of some lanes by their times, from where a former list ended.
-- KEYS:
--   1 xg:busy:{lane} of the first lane: sorted set
-- ARGV:
--   3 set (scheduled, dead): string
--   4 order (asc, desc): string
--   5 most jobs of a lane: integer
--   6 time of the last job that was listed (empty: from the begin): number
--   7 lane of that job: string
--   8 its id: string
--   9 and more, per lane: lane: string, past or ahead (its jobs of just that time were listed before, or come behind): string
-- Returns per lane { id, time, id, time ... }.
local set, order, most, time, ownLane, ownId = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8]
local isDown = order == 'desc'
local range, rank = isDown and 'ZREVRANGE' or 'ZRANGE', isDown and 'ZREVRANK' or 'ZRANK'
-- Jobs that wait for their turn stand behind, see turns.lua.
local bound = set == 'scheduled' and '5e13' or '+inf'

-- Members of a lane's set that come before those that are wanted.
local function passed(key, lane, where)
  local behind = isDown and set == 'scheduled' and redis.call('ZCOUNT', key, bound, '+inf') or 0
  if time == '' then return behind end
  local own = lane == ownLane and redis.call(rank, key, ownId)
  if own then return own + 1 end
  local before = isDown and redis.call('ZCOUNT', key, '(' .. time, '(' .. bound)
    or redis.call('ZCOUNT', key, '-inf', '(' .. time)
  return behind + before + (where == 'past' and redis.call('ZCOUNT', key, time, time) or 0)
end

local found = {}
for at = 9, #ARGV, 2 do
  local lane = ARGV[at]
  local key = set == 'dead' and Keys.dead(lane) or Keys.queue(lane, 'scheduled')
  local first = passed(key, lane, ARGV[at + 1])
  local page = redis.call(range, key, first, first + most - 1, 'WITHSCORES')
  local jobs = {}
  for place = 1, #page, 2 do
    if set == 'scheduled' and tonumber(page[place + 1]) >= 5e13 then break end
    jobs[#jobs + 1], jobs[#jobs + 2] = page[place], page[place + 1]
  end
  found[#found + 1] = jobs
end
return found
