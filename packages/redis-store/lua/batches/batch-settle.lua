-- In a cluster: takes jobs that joined a batch and were not stored out of its count, once.
-- KEYS:
--   1 {xg}:batch:<bid>: hash
-- ARGV:
--   3 bid: string
--   4 jobs: integer
--   5 note (a member of {xg}:joins): string
-- Returns 1, or 0 where it was settled before.
local bid, jobs = ARGV[3], tonumber(ARGV[4])
if redis.call('ZREM', Keys.joins, ARGV[5]) == 0 then return 0 end
if jobs > 0 and Batches.joinBatch(bid, -jobs) then Batches.settleBatch(bid) end
return 1
