-- Notes of jobs that came from another system: import id (16 bytes) to a letter, the tag of the migration (4 bytes),
-- the digest of the job (8 bytes), then its id. Letters: c stored, j joined to a job that was there, m stored, and its
-- source has it no more, h held back while it goes to its source again. Needs keys.lua.
local idAt = 14
-- 256 hashes a lane, so that none is long: 20,000 in each are 5,000,000 jobs of a lane.
local mostNotes = 20000

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
