-- In a cluster: asks leave to hand out jobs of a queue that has a limit. A leave counts as a job until it
-- is settled, and runs out where the node that got it died.
-- KEYS: xg:slots:{queue}. ARGV: open, close, queue, concurrency (0: any), rate (0: any), per (ms), timeout (ms, 0: none),
-- jobs of a worker (0: any), the worker, jobs wanted, name of the leave.
-- Returns { jobs allowed, 1 if there were to be more, for how long time forbids more (ms) }.
--#include keys
--#include throttle
local throttle = { queue = ARGV[3], concurrency = tonumber(ARGV[4]), rate = tonumber(ARGV[5]), per = tonumber(ARGV[6]),
  timeout = tonumber(ARGV[7]), perWorker = tonumber(ARGV[8]), worker = ARGV[9] }
local wanted, leave, now, allowed, leaveMs = tonumber(ARGV[10]), ARGV[11], nowMs(), 0, 10000
for _, slot in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - leaveMs)) do
  if string.sub(slot, 1, 1) == '\0' then freeSlot(throttle.queue, slot) end
end
while allowed < wanted and mayTake(throttle, now) do
  allowed = allowed + 1
  tookThrottled(throttle, '', leave .. allowed, now)
end
return { allowed, throttle.full and 1 or 0, math.ceil(throttle.waitMs or 0) }
