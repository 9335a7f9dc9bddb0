-- Gives an end to locks of finished jobs that native workers pushed and died with. Lists of other programs stay.
-- KEYS:
--   1 uid:{lane} of the first: string
-- ARGV:
--   3 and more: per lane its name, the number of its ids, the ids: strings
-- Returns 0.
local function endLock(lane, last, id)
  local lock, status = Keys.of('lock', lane) .. ':' .. id, Keys.jobFields(lane, id, 'status')[1]
  local isOpen = status == 'idle' or status == 'busy'
  if tonumber(id) <= last and not isOpen and redis.pcall('LINDEX', lock, 0) == 'OK' then
    redis.call('EXPIRE', lock, Jobs.lockSeconds, 'NX')
  end
end

local at = 3
while at < #ARGV do
  local lane, first = ARGV[at], at + 2
  at = first + tonumber(ARGV[at + 1])
  local last = redis.pcall('GET', Keys.of('uid', lane))
  for index = first, at - 1 do
    endLock(lane, type(last) == 'string' and tonumber(last) or 0, ARGV[index])
  end
end
return 0
