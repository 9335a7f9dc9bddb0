-- Tells since when the next job of each lane has been queued, or where jobs take turns, since when one has waited.
-- KEYS:
--   1 queue:{lane}:normal of the first: list
-- ARGV:
--   3 and more: lanes: strings
-- Returns per lane: milliseconds since 1970, or empty where nothing is queued.
local now, found = Keys.nowMs(), {}
for at = 3, #ARGV do
  local lane, oldest = ARGV[at], nil
  local function look(id)
    local since = Since.sinceOf(lane, id, now)
    if not oldest or since < oldest then oldest = since end
  end
  for _, band in ipairs(Keys.bands) do
    -- Another program may have put another type in the place of a queue.
    local id = redis.pcall('LINDEX', Keys.queue(lane, band), -1)
    if type(id) == 'string' then look(id) end
  end
  local inTurns = Since.oldestInTurns(Keys.queue(lane, 'scheduled'))
  if inTurns then look(inTurns) end
  found[#found + 1] = oldest and Keys.stamp(oldest * 1000) or ''
end
return found
