-- In a cluster: settles a permission to hand out jobs.
-- KEYS:
--   1 xg:slots:{queue}: sorted set
-- ARGV:
--   3 name of the limit: string
--   4 concurrency (0: any): integer
--   5 jobs of a worker (0: any): integer
--   6 the worker: string
--   7 name of the permission: string
--   8 jobs allowed: integer
--   9 and more, per job that was handed out: lane, id: strings
-- Returns 1.
local permission, allowed, now = ARGV[7], tonumber(ARGV[8]), Keys.nowMs()
local throttle = {
  queue = ARGV[3],
  concurrency = tonumber(ARGV[4]),
  perWorker = tonumber(ARGV[5]),
  worker = ARGV[6],
}
for index = 1, allowed do
  Throttle.free(throttle.queue, Throttle.of('', permission .. index))
end
local taken = 0
for at = 9, #ARGV, 2 do
  taken = taken + 1
  if Throttle.limits(throttle) then Throttle.take(throttle, Throttle.of(ARGV[at], ARGV[at + 1]), now) end
end
for _ = taken + 1, allowed do
  redis.call('LPOP', Keys.rate(throttle.queue))
end
return 1
