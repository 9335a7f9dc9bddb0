-- Commits a batch, so that its callbacks can be pushed, or opens it again.
-- KEYS: xg:batch:<bid>. ARGV: open, close, bid, 1 to commit or 0 to open.
-- Returns 1, or 0 where the batch is not known, or is to be opened and is over.
--#include keys
--#include batches
local bid, commit = ARGV[3], ARGV[4]
local batch = redis.call('HMGET', KEYS[1], 'created', 'success')
if not batch[1] then return 0 end
if commit == '0' and batch[2] then return 0 end
redis.call('HSET', KEYS[1], 'committed', commit)
touchBatch(bid)
if commit == '1' then settleBatch(bid) end
return 1
