-- Stores a node's heartbeat. The first node of a store notes the version of its structures.
-- KEYS:
--   1 xg:nodes: sorted set
--   2 xg:schema: string
--   3 xg:deaths: hash
--   4 xg:lanes: hash
--   5 xg:libraries: hash
-- ARGV:
--   3 node: string
--   4 the function library that it uses: string
-- Returns { now (ms), 1 if the node was not known or has been declared dead, the version of the structures, how many lanes
-- are registered, then per other node: its name, its last heartbeat (ms) }.
local now = Keys.nowMs()
local last = redis.call('ZSCORE', KEYS[1], ARGV[3])
-- Never the same twice, however the clock is set: a heartbeat is a change.
local isRecent = last and now <= tonumber(last) and tonumber(last) < now + 1000
redis.call('ZADD', KEYS[1], isRecent and tonumber(last) + 1 or now, ARGV[3])
if not last then redis.call('HSET', KEYS[5], ARGV[3], ARGV[4]) end
redis.call('SET', KEYS[2], 1, 'NX')
local isDead = redis.call('HEXISTS', KEYS[3], ARGV[3]) == 1
-- While its reclaim goes on, more is taken from it: it learns that again with the next beat.
if isDead and not Nodes.isBeingReclaimed(ARGV[3]) then redis.call('HDEL', KEYS[3], ARGV[3]) end
local answer =
  { Keys.integer(now), last and not isDead and 0 or 1, redis.call('GET', KEYS[2]), redis.call('HLEN', KEYS[4]) }
local nodes = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for at = 1, #nodes, 2 do
  if nodes[at] ~= ARGV[3] then
    answer[#answer + 1] = nodes[at]
    answer[#answer + 1] = nodes[at + 1]
  end
end
return answer
