-- In a cluster: counts jobs into a batch before they are stored, and keeps a note until that is settled.
-- KEYS:
--   1 {xg}:batch:<bid>: hash
-- ARGV:
--   3 bid: string
--   4 jobs: integer
--   5 note (a member of {xg}:joins): string
-- Returns 1, or 0 where the batch is not known.
if not Batches.joinBatch(ARGV[3], tonumber(ARGV[4])) then return 0 end
redis.call('ZADD', Keys.joins, Keys.integer(Keys.nowMs()), ARGV[5])
return 1
