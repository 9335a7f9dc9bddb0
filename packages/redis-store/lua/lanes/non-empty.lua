-- Finds the lanes with queued jobs that somebody wants. They are put into the hint index of their queue, so
-- that a worker that is woken for them finds them: a native client pushes past it.
-- KEYS:
--   1 queue:{lane}:normal of the first: list
-- ARGV:
--   3 and more, per lane: lane, queue (its hint index, empty for none): strings
-- Returns those lanes.
local found, now = {}, Keys.nowMs()

-- True if one of a band's next jobs has not been abandoned by its clients. Where all of many are abandoned, a later one
-- may still be wanted.
local looked = 16
local function hasWanted(lane, band)
  local ids = redis.call('LRANGE', Keys.queue(lane, band), -looked, -1)
  for _, id in ipairs(ids) do
    local job = Keys.jobFields(lane, id, 'fg', 'wait', 'door')
    if job[2] ~= '' or not Fields.isForeground(job[3], job[1], '') then return true end
  end
  return #ids == looked
end

local function look(lane, queue)
  -- Most lanes are empty.
  if redis.call('EXISTS', Keys.queue(lane, 'high'), Keys.queue(lane, 'normal'), Keys.queue(lane, 'low')) == 0 then
    return
  end
  if hasWanted(lane, 'high') or hasWanted(lane, 'normal') or hasWanted(lane, 'low') then
    Levels.hintReady(queue, lane, now)
    found[#found + 1] = lane
  end
end

-- A lane where another program has put another type in the place of a queue does not stop the others.
for at = 3, #ARGV, 2 do
  pcall(look, ARGV[at], ARGV[at + 1])
end
return found
