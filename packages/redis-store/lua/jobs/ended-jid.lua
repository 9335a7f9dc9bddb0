-- In a cluster: keeps which finished job a jid names, as long as its hash is kept.
-- KEYS: xg:ended:<jid>. ARGV: open, close, `<id> <lane>`, seconds. Returns 1.
redis.call('SET', KEYS[1], ARGV[3], 'EX', ARGV[4])
return 1
