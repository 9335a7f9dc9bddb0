-- In a cluster: counts jobs into a batch before they are stored, and notes it until that is settled.
-- KEYS: {xg}:batch:<bid>. ARGV: open, close, bid, jobs, note (a member of {xg}:joins).
-- Returns 1, or 0 where the batch is not known.
--#include keys
--#include batches
if not joinBatch(ARGV[3], tonumber(ARGV[4])) then return 0 end
redis.call('ZADD', joinsKey, integer(nowMs()), ARGV[5])
return 1
