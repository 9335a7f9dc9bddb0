-- In a cluster: pushes a callback of a batch into its lane, once.
-- KEYS: uid:{lane}. ARGV: open, close, lane, <bid>:<what>, queue (its hint index, empty for none), level, jid,
-- fields and values of its hash. Returns 1, or 0 where it was pushed before.
--#include keys
--#include batches
local lane, callback = ARGV[3], ARGV[4]
local mark = uniqueLockKey(lane) .. ':callback ' .. callback
if not redis.call('SET', mark, 1, 'NX', 'EX', batchSeconds) then return 0 end
storeCallback(lane, callback, ARGV, 5)
return 1
