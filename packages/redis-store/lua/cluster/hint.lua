-- Notes in an index how a lane stands. A script, for a full server refuses the plain command.
-- KEYS: the index. ARGV: open, close, lane, score, 1 if an earlier score than this stays.
-- Returns 1 if that changed anything, else 0.
if ARGV[5] == '1' then return redis.call('ZADD', KEYS[1], 'LT', 'CH', ARGV[4], ARGV[3]) end
return redis.call('ZADD', KEYS[1], 'CH', ARGV[4], ARGV[3])
