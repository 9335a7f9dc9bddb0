-- In a cluster: asks for permission to hand out jobs under a limit. A permission counts as a job until it is
-- settled, and expires if its node dies.
-- KEYS:
--   1 xg:slots:{queue}: sorted set
-- ARGV:
--   3 name of the limit: string
--   4 concurrency (0: any): integer
--   5 rate (0: any): integer
--   6 time of the rate: integer, ms
--   7 timeout (ms, 0: none): integer, ms
--   8 jobs of a worker (0: any): integer
--   9 the worker: string
--   10 jobs wanted: integer
--   11 name of the permission: string
-- Returns { jobs allowed, 1 if there were to be more, for how long time forbids more (ms) }.
local throttle = {
  queue = ARGV[3],
  concurrency = tonumber(ARGV[4]),
  rate = tonumber(ARGV[5]),
  per = tonumber(ARGV[6]),
  timeout = tonumber(ARGV[7]),
  perWorker = tonumber(ARGV[8]),
  worker = ARGV[9],
}
local wanted, permission, now, allowed, permissionMs = tonumber(ARGV[10]), ARGV[11], Keys.nowMs(), 0, 10000
Throttle.redate(throttle.queue, now)
for _, slot in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - permissionMs)) do
  if string.sub(slot, 1, 1) == '\0' then Throttle.free(throttle.queue, slot) end
end
while allowed < wanted and Throttle.hasRoom(throttle, now) do
  allowed = allowed + 1
  Throttle.tookThrottled(throttle, '', permission .. allowed, now)
end
return { allowed, throttle.full and 1 or 0, math.ceil(throttle.waitMs or 0) }
