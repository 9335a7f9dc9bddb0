-- In a cluster: what came of a leave to hand out jobs.
-- KEYS: xg:slots:{queue}. ARGV: open, close, queue, concurrency (0: any), jobs of a worker (0: any), the worker, name of
-- the leave, jobs allowed, then per job that was handed out: lane, id.
--#include keys
--#include throttle
local leave, allowed, now = ARGV[7], tonumber(ARGV[8]), nowMs()
local throttle = { queue = ARGV[3], concurrency = tonumber(ARGV[4]), perWorker = tonumber(ARGV[5]), worker = ARGV[6] }
for index = 1, allowed do freeSlot(throttle.queue, slotOf('', leave .. index)) end
local taken = 0
for at = 9, #ARGV, 2 do
  taken = taken + 1
  if limitsSlots(throttle) then takeSlot(throttle, slotOf(ARGV[at], ARGV[at + 1]), now) end
end
for _ = taken + 1, allowed do redis.call('LPOP', rateKey(throttle.queue)) end
return 1
