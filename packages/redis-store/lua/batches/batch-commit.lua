-- Commits a batch, so that its callbacks can be pushed, or reopens it.
-- KEYS:
--   1 xg:batch:<bid>: hash
-- ARGV:
--   3 bid: string
--   4 1 to commit or 0 to open: flag
-- Returns 1, or 0 where the batch is not known.
local bid, commit = ARGV[3], ARGV[4]
local created = redis.call('HGET', KEYS[1], 'created')
if not created then return 0 end
-- Batches of a former version are not listed yet.
Batches.listBatch(bid, created)
redis.call('HSET', KEYS[1], 'committed', commit)
Batches.touchBatch(bid)
if commit == '1' then Batches.settleBatch(bid) end
return 1
