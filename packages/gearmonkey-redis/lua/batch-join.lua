-- In a cluster: counts jobs into a batch before they are stored, or out of it if they were not.
-- KEYS: {xg}:batch:<bid>. ARGV: open, close, bid, jobs (below 0: out).
-- Returns 1, or 0 where the batch is not known or over.
--#include keys
--#include batches
return joinBatch(ARGV[3], tonumber(ARGV[4])) and 1 or 0
