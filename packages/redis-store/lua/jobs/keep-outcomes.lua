-- Keeps the hashes of jobs for a while after their end, for a comparison of outcomes. A native client's is kept anyway.
-- KEYS:
--   1 uid:{lane}: string
-- ARGV:
--   3 lane: string
--   4 seconds: integer, seconds
--   5 and more: ids: strings
-- Returns 0.
local lane, seconds = ARGV[3], tonumber(ARGV[4])
for at = 5, #ARGV do
  local job = Keys.jobFields(lane, ARGV[at], 'door', 'status', 'keep')
  local isOpen = job[2] == 'idle' or job[2] == 'busy'
  if isOpen and Fields.doorIn(job[1]) and (Fields.whole(job[3]) or 0) < seconds then
    redis.call('HSET', Keys.job(lane, ARGV[at]), 'keep', seconds)
  end
end
return 0
