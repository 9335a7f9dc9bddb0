-- Lists a page of the jobs in one place of a lane, the next to be taken first.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 place (high, normal, low, scheduled, busy): string
--   5 first: integer
--   6 count: integer
-- Returns per job: { id, losses, 1 if foreground, 1 if its last client has left, unique (empty for none) }.
local lane, place, first, count = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local ids, jobs = {}, {}
if place == 'busy' or place == 'scheduled' then
  local key = place == 'busy' and KEYS[1] or Keys.queue(lane, place)
  ids = redis.call('ZRANGE', key, first, first + count - 1)
else
  -- Jobs outside the list come after it.
  local lists = { Keys.queue(lane, place) }
  if Aside.countAside(lane) > 0 then
    for _, level in ipairs(Aside.unusualLevels[place]) do
      lists[#lists + 1] = Keys.level(lane, level)
    end
  end
  for _, list in ipairs(lists) do
    local page = redis.call('LRANGE', list, -(first + count), -(first + 1))
    for at = #page, 1, -1 do
      ids[#ids + 1] = page[at]
    end
    count = count - #page
    if count <= 0 then break end
    first = math.max(0, first - redis.call('LLEN', list))
  end
end
for at, id in ipairs(ids) do
  local v = Keys.jobFields(lane, id, 'losses', 'fg', 'wait', 'unique', 'door')
  local foreground = Fields.isForeground(v[5], v[2], v[3])
  jobs[at] = { id, Fields.whole(v[1]) or 0, foreground and 1 or 0, foreground and v[3] == '' and 1 or 0, v[4] or '' }
end
return jobs
