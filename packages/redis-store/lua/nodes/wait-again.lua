-- Restores the waiting clients of a node that was taken for dead.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 and more, per job: id, clients: integers
-- Returns 1.
local lane, node = ARGV[3], ARGV[4]
for at = 5, #ARGV, 2 do
  local v = Keys.jobFields(lane, ARGV[at], 'status', 'wait', 'settled')
  if v[1] and not Fields.isSettled(v[3], v[1]) then
    local waiting = Waits.countWait(Waits.withoutNode(v[2] or '', node), node, tonumber(ARGV[at + 1]))
    redis.call('HSET', Keys.job(lane, ARGV[at]), 'wait', waiting)
  end
end
return 1
