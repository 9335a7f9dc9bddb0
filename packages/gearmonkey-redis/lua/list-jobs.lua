-- One page of the jobs in one place of a lane, the next to be taken first.
-- KEYS: xg:busy:{lane}. ARGV: open, close, lane, place (high, normal, low, scheduled, busy), first, count.
-- Returns per job: { id, losses, fg, wait, unique }, each empty where the job has none.
--#include keys
local lane, place, first, count = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local ids, jobs = {}, {}
if place == 'busy' or place == 'scheduled' then
  local key = place == 'busy' and KEYS[1] or queueKey(lane, place)
  ids = redis.call('ZRANGE', key, first, first + count - 1)
else
  local page = redis.call('LRANGE', queueKey(lane, place), -(first + count), -(first + 1))
  for at = #page, 1, -1 do ids[#ids + 1] = page[at] end
end
for at, id in ipairs(ids) do
  local v = jobFields(lane, id, 'losses', 'fg', 'wait', 'unique')
  jobs[at] = { id, v[1] or '', v[2] or '', v[3] or '', v[4] or '' }
end
return jobs
