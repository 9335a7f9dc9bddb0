-- Notes on imported jobs: import id (16 bytes) to a letter, the migration's tag (4 bytes), the job's digest (8 bytes),
-- then its id. Letters: c stored, j joined to another job, m stored and gone from its source, h held back while it
-- returns to its source. Needs keys.lua.
local idAt = 14
-- 256 hashes a lane keep each short: 20,000 entries each are 5,000,000 jobs of a lane.
local maxNotes = 20000

local importedKeys = {}
local function importedKey(lane, importId)
  local byte = string.byte(importId)
  local key = importedKeys[byte]
  if not key then
    key = laneKey('xg:imported', lane) .. ':' .. string.format('%02x', byte)
    importedKeys[byte] = key
  end
  return key
end
