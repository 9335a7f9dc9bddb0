-- Finds unfinished jobs of lanes by their unique ids.
-- KEYS:
--   1 xg:unique:{lane} of the first: hash
-- ARGV:
--   3 number of unique ids: integer
--   4 and more: the unique ids, lanes: strings
-- Returns flat per job: number of its unique id (from 0), lane, id.
local count, found = tonumber(ARGV[3]), {}
for at = 4 + count, #ARGV do
  local lane = ARGV[at]
  for index, id in ipairs(redis.call('HMGET', Keys.unique(lane), unpack(ARGV, 4, 3 + count))) do
    if id then
      for _, part in ipairs({ index - 1, lane, id }) do
        found[#found + 1] = part
      end
    end
  end
end
return found
