-- Lists a node's leases of one lane with token numbers in a range.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 lane: string
--   4 node: string
--   5 first token number: integer
--   6 the number after the last: integer
-- Returns { id, token } flat.
--#include keys
local lane, mine, first, last = ARGV[3], ARGV[4] .. '-', tonumber(ARGV[5]), tonumber(ARGV[6])
local found = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local token = redis.call('HGET', jobKey(lane, id), 'token')
  if token and string.sub(token, 2, 1 + #mine) == mine then
    local number = tonumber(string.sub(token, 2 + #mine))
    if number and number >= first and number < last then
      found[#found + 1] = id
      found[#found + 1] = token
    end
  end
end
return found
