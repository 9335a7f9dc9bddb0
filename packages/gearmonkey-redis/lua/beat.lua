-- A node says that it lives.
-- KEYS: xg:nodes. ARGV: open, close, node, dead after (ms).
-- Returns { now (ms), 1 if the node was not known, names of dead nodes ... }.
--#include keys
local now = nowMs()
local new = redis.call('ZADD', KEYS[1], now, ARGV[3])
local answer = { integer(now), new }
for _, node in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[4]), 'LIMIT', 0, 10)) do
  answer[#answer + 1] = node
end
return answer
