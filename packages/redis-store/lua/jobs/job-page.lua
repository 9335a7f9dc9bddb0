-- One piece of the jobs in one place of a lane, of a queue the next to be taken first.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 place (high, normal, low, scheduled, busy, dead): string
--   5 first: integer
--   6 count: integer
--   7 text that payload or error must hold (empty for all): bytes
--   8 bytes that are searched: integer; a longer payload is not
-- Returns { jobs looked at, payloads not searched, 1 if there are more, id, offset, score (empty in a queue), ... }.
local lane, place, first, count = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local text, budget = ARGV[7], tonumber(ARGV[8])
local sets = { busy = KEYS[1], scheduled = Keys.queue(lane, 'scheduled'), dead = Keys.dead(lane) }
local ids, scores, total = {}, {}, 0
if sets[place] then
  -- Jobs that wait for their turn stand behind, see turns.lua: they are in the queue.
  local last = place == 'scheduled' and '(5e13' or '+inf'
  local page = redis.call('ZRANGEBYSCORE', sets[place], '-inf', last, 'WITHSCORES', 'LIMIT', first, count)
  for at = 1, #page, 2 do
    ids[#ids + 1], scores[#scores + 1] = page[at], page[at + 1]
  end
  total = redis.call('ZCOUNT', sets[place], '-inf', last)
else
  -- Jobs outside the list come behind it.
  local lists = { Keys.queue(lane, place) }
  if Aside.countAside(lane) > 0 then
    for _, level in ipairs(Aside.unusualLevels[place]) do
      lists[#lists + 1] = Keys.level(lane, level)
    end
  end
  local skip, left = first, count
  for _, list in ipairs(lists) do
    local length = redis.call('LLEN', list)
    total = total + length
    if left > 0 and skip < length then
      local page = redis.call('LRANGE', list, -(skip + left), -(skip + 1))
      for at = #page, 1, -1 do
        ids[#ids + 1] = page[at]
      end
      left = left - #page
    end
    skip = math.max(0, skip - length)
  end
  local inTurns = place == 'normal' and tonumber(redis.pcall('ZCOUNT', sets.scheduled, 5e13, '+inf')) or 0
  total = total + inTurns
  if inTurns > skip and left > 0 then
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', sets.scheduled, 5e13, '+inf', 'LIMIT', skip, left)) do
      ids[#ids + 1] = id
    end
  end
end

local most, unsearched, seen = budget, 0, #ids
local answer = { 0, 0, 0 }

local function holdsText(id)
  if string.find(Keys.jobFields(lane, id, 'failure')[1] or '', text, 1, true) then return true end
  local bytes = redis.pcall('HSTRLEN', Keys.job(lane, id), 'input')
  if type(bytes) ~= 'number' then return false end
  if bytes > most then
    unsearched = unsearched + 1
    return false
  end
  budget = budget - bytes
  return string.find(Keys.jobFields(lane, id, 'input')[1] or '', text, 1, true) ~= nil
end

for at, id in ipairs(ids) do
  if text == '' or holdsText(id) then
    answer[#answer + 1], answer[#answer + 2], answer[#answer + 3] = id, at - 1, scores[at] or ''
  end
  if budget <= 0 then
    seen = at
    break
  end
end
answer[1], answer[2], answer[3] = seen, unsearched, first + seen < total and 1 or 0
return answer
