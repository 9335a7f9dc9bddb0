-- Notes on imported jobs: import id (16 bytes) to a letter, the migration's tag (4 bytes), the job's digest (8 bytes),
-- then its id. Letters: c stored, j joined to another job, m stored and gone from its source, h held back while it
-- returns to its source.
Imports.idAt = 14
-- 256 hashes a lane keep each short: 20,000 entries each are 5,000,000 jobs of a lane.
Imports.maxNotes = 20000

function Imports.importedKey(lane, importId)
  return Keys.of('xg:imported', lane) .. ':' .. string.format('%02x', string.byte(importId))
end
