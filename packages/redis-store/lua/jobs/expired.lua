-- Lists expired leases. They stand until an outcome with their token ends them.
-- KEYS:
--   1 xg:busy:{lane} of the first: sorted set
-- ARGV:
--   3 most per lane: integer
--   4 leases after which no other lane is looked at: integer
--   5 and more: lanes: strings
-- Returns the number of lanes it has looked at, then flat per job: lane, id, token.
local now, found, leases = Keys.nowMs(), {}, {}
local enough, count = tonumber(ARGV[4]), 0
for at = 5, #ARGV do
  leases[at - 4] = Keys.busy(ARGV[at])
end
found[1] = #leases
if redis.call('EXISTS', unpack(leases)) == 0 then return found end
for at, key in ipairs(leases) do
  if count >= enough then
    found[1] = at - 1
    break
  end
  local lane = ARGV[at + 4]
  local ids = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, ARGV[3])
  count = count + #ids
  for _, id in ipairs(ids) do
    local token = Keys.jobFields(lane, id, 'token')[1]
    if token then
      for _, part in ipairs({ lane, id, token }) do
        found[#found + 1] = part
      end
    else
      redis.call('ZREM', key, id)
    end
  end
end
return found
