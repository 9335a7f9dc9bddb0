-- In a cluster: applies a lane's notes to a slot of the index of jids.
-- KEYS:
--   1 xg:jids:{slot}: hash
-- ARGV:
--   3 and more, per jid: what (add; heal: only where there is none; drop: only where it names that job), jid,
--     `<id> <lane>`: strings
-- Returns 1.
for at = 3, #ARGV, 3 do
  local what, jid, ref = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if what == 'add' then
    redis.call('HSET', KEYS[1], jid, ref)
  elseif what == 'heal' then
    redis.call('HSETNX', KEYS[1], jid, ref)
  elseif redis.call('HGET', KEYS[1], jid) == ref then
    redis.call('HDEL', KEYS[1], jid)
  end
end
return 1
