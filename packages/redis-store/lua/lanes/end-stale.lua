-- Ends jobs at the heads of lanes, and those that wait for their turn, that have waited too long, so that their clients hear
-- of it without a worker.
-- KEYS:
--   1 queue:{lane}:normal of the first: list
-- ARGV:
--   3 most dead jobs of a lane: integer
--   4 how long a dead job is kept: integer, seconds
--   5 most jobs of a band: integer
--   6 and more, per lane: lane, queue (its hint index, empty for none): strings
-- Returns flat per job: lane, id, door, how (expired, died).
local now, most, seconds, perBand, ended = Keys.nowMs(), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], {}
local names =
  { 'status', 'door', 'stale', 'dies_stale', 'fg', 'wait', 'unique', 'jid', 'keep', 'level', 'turn', 'enqueued' }

-- The jobs whose time is up, of some in their order. Those behind one whose time is still to come are younger.
local function staleAmong(lane, queued)
  local found = {}
  for _, id in ipairs(queued) do
    local values, fields = Keys.jobFields(lane, id, unpack(names)), {}
    for place, name in ipairs(names) do
      fields[name] = values[place] or nil
    end
    if fields.stale and Fields.doorIn(fields.door) and fields.status then
      if not Fields.isStale(fields.stale, now) then break end
      fields.id = id
      found[#found + 1] = fields
    end
  end
  return found
end

local function finish(act, fields)
  local how = Stale.endStale(act.lane, fields.id, fields, '', now, most, seconds)
  for _, word in ipairs({ act.lane, fields.id, fields.door, how }) do
    ended[#ended + 1] = word
  end
end

for at = 6, #ARGV, 2 do
  local lane = ARGV[at]
  local act = Places.actOn(lane, ARGV[at + 1], now)
  for _, band in ipairs(Keys.bands) do
    local key = Keys.queue(lane, band)
    for _, fields in ipairs(staleAmong(lane, Bands.reversed(redis.call('LRANGE', key, '-' .. perBand, -1)))) do
      if redis.call('LREM', key, -1, fields.id) == 1 then
        Places.leftList(act, fields)
        finish(act, fields)
      end
    end
  end
  local scheduled = Keys.queue(lane, 'scheduled')
  local inTurns = act.limits and redis.call('ZRANGEBYSCORE', scheduled, 5e13, '+inf', 'LIMIT', 0, perBand)
  for _, fields in ipairs(inTurns and staleAmong(lane, inTurns) or {}) do
    Places.takeScheduled(act, fields)
    finish(act, fields)
  end
  Places.endAct(act)
end
return ended
