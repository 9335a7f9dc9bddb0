-- In a cluster: keeps the finished job of a jid, as long as its hash is kept.
-- KEYS:
--   1 xg:ended:<jid>: string
-- ARGV:
--   3 `<id> <lane>`: string
--   4 seconds: integer, seconds
-- Returns 1.
redis.call('SET', KEYS[1], ARGV[3], 'EX', ARGV[4])
return 1
