-- Lists a page of a set of a lane, by due or expiry time.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 set (scheduled, retries, dead): string
--   5 first: integer
--   6 count: integer
-- Returns { members looked at, id, time, id, time ... }.
local lane, set, first, count = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local keys = { scheduled = Keys.queue(lane, 'scheduled'), retries = Keys.retries(lane), dead = Keys.dead(lane) }
local page = redis.call('ZRANGE', keys[set], first, first + count - 1, 'WITHSCORES')
local answer = { #page / 2 }
for at = 1, #page, 2 do
  local id, belongs = page[at], true
  -- Jobs that wait for their turn stand behind, see turns.lua.
  if set == 'scheduled' and tonumber(page[at + 1]) >= 5e13 then
    answer[1] = (at - 1) / 2
    break
  end
  if set == 'scheduled' then belongs = not redis.call('ZSCORE', keys.retries, id) end
  if set == 'retries' then belongs = redis.call('ZSCORE', keys.scheduled, id) end
  if belongs then
    answer[#answer + 1] = id
    answer[#answer + 1] = page[at + 1]
  end
end
return answer
