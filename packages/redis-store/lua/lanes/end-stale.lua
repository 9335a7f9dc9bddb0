-- Ends jobs at the heads of lanes that have waited too long, so that their clients hear of it without a worker.
-- KEYS:
--   1 queue:{lane}:normal of the first: list
-- ARGV:
--   3 most dead jobs of a lane: integer
--   4 how long a dead job is kept: integer, seconds
--   5 most jobs of a band: integer
--   6 and more: lanes: strings
-- Returns flat per job: lane, id, door, how (expired, died).
--#include keys
--#include levels
--#include jobs
--#include books
--#include stale
local now, most, seconds, perBand, ended = nowMs(), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], {}
local names = { 'status', 'door', 'stale', 'dies_stale', 'fg', 'wait', 'unique', 'jid', 'keep', 'level' }

-- The jobs of a band whose time is up. Those behind one whose time is still to come are younger.
local function staleIn(lane, key)
  local found, queued = {}, redis.call('LRANGE', key, '-' .. perBand, -1)
  for at = #queued, 1, -1 do
    local values, fields = jobFields(lane, queued[at], unpack(names)), {}
    for place, name in ipairs(names) do
      fields[name] = values[place] or nil
    end
    if fields.stale and doorIn(fields.door) and fields.status then
      if not read.isStale(fields.stale, now) then break end
      fields.id = queued[at]
      found[#found + 1] = fields
    end
  end
  return found
end

for at = 6, #ARGV do
  local lane = ARGV[at]
  for _, band in ipairs(bands) do
    local key = queueKey(lane, band)
    for _, fields in ipairs(staleIn(lane, key)) do
      if redis.call('LREM', key, -1, fields.id) == 1 then
        if fields.level then tookLevel(lane, fields.level) end
        local how = endStale(lane, fields.id, fields, '', now, most, seconds)
        for _, word in ipairs({ lane, fields.id, fields.door, how }) do
          ended[#ended + 1] = word
        end
      end
    end
  end
end
return ended
