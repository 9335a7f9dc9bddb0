-- Writes a lane's hint into an index. A script, since a full server refuses the plain command.
-- KEYS:
--   1 the index: sorted set
-- ARGV:
--   3 lane: string
--   4 score: integer
--   5 1 if an earlier score than this stays: flag
-- Returns 1 if that changed anything, else 0.
if ARGV[5] == '1' then return redis.call('ZADD', KEYS[1], 'LT', 'CH', ARGV[4], ARGV[3]) end
return redis.call('ZADD', KEYS[1], 'CH', ARGV[4], ARGV[3])
