-- In a cluster: what came of a leave to hand out jobs.
-- KEYS: xg:slots:{queue}. ARGV: open, close, queue, concurrency (0: any), name of the leave, jobs allowed, then
-- per job that was handed out: lane, id.
--#include keys
--#include throttle
local queue, leave, allowed, now = ARGV[3], ARGV[5], tonumber(ARGV[6]), nowMs()
for index = 1, allowed do redis.call('ZREM', KEYS[1], slotOf('', leave .. index)) end
local taken = 0
for at = 7, #ARGV, 2 do
  taken = taken + 1
  if ARGV[4] ~= '0' then redis.call('ZADD', KEYS[1], now, slotOf(ARGV[at], ARGV[at + 1])) end
end
for _ = taken + 1, allowed do redis.call('LPOP', rateKey(queue)) end
return 1
