-- Tells since when the next job of each lane has been queued.
-- KEYS:
--   1 queue:{lane}:normal of the first: list
-- ARGV:
--   3 and more: lanes: strings
-- Returns per lane: milliseconds since 1970, or empty where nothing is queued.
--#include keys
local now, found = nowMs(), {}
for at = 3, #ARGV do
  local lane, oldest = ARGV[at], nil
  for _, band in ipairs(bands) do
    -- Another program may have put another type in the place of a queue.
    local id = redis.pcall('LINDEX', queueKey(lane, band), -1)
    if type(id) == 'string' then
      local since = read.time(jobFields(lane, id, 'enqueued')[1]) or now
      if not oldest or since < oldest then oldest = since end
    end
  end
  found[#found + 1] = oldest and stamp(oldest * 1000) or ''
end
return found
