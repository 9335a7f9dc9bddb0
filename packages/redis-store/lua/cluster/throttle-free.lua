-- In a cluster: frees the slots of jobs that ended, and wakes workers that wait for room in the queue or for the function.
-- KEYS:
--   1 xg:slots:{queue}: sorted set
-- ARGV:
--   3 name of the limit: string
--   4 and more, per job: lane, id: strings
-- Returns how many jobs count no more.
local freed = 0
for at = 4, #ARGV, 2 do
  freed = freed + Throttle.free(ARGV[3], Throttle.of(ARGV[at], ARGV[at + 1]))
end
if freed > 0 then
  local isOfFunction = string.find(ARGV[3], ':', 1, true)
  local following = not isOfFunction and redis.call('ZRANGE', Keys.ready(ARGV[3]), 0, 0)[1]
  if isOfFunction then
    redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('room', ARGV[4], freed))
  elseif following then
    redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('wake', following, freed))
  end
end
return freed
