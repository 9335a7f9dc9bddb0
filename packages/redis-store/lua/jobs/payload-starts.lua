-- Reads the first bytes of one part of some jobs.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 bytes of each: integer
--   5 a longer payload is not read: integer, bytes
--   6 bytes that are read in all: integer
--   7 the part: input, output or envelope
--   8 and more: ids: integers
-- Returns per job { its bytes, the first of them (empty where it is not read) }.
local lane, most, longest, budget = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local part = ARGV[7]
local found = {}
for at = 8, #ARGV do
  local key = Keys.job(lane, ARGV[at])
  local bytes, start = redis.pcall('HSTRLEN', key, part), ''
  if type(bytes) ~= 'number' then bytes = 0 end
  if bytes <= longest and bytes <= budget then
    budget = budget - bytes
    start = string.sub(redis.call('HGET', key, part) or '', 1, most)
  end
  found[#found + 1] = { bytes, start }
end
return found
