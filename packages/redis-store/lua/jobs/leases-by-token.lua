-- Lists a node's leases of one lane with token numbers in a range, in pieces. A lease may come twice.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 first token number: integer
--   6 the number after the last: integer
--   7 cursor (0 for the start): string
-- Returns the next cursor (0: that was all), then flat id and token of each.
local lane, mine, first, last = ARGV[3], ARGV[4] .. '-', tonumber(ARGV[5]), tonumber(ARGV[6])
-- Some half a millisecond of the server's time.
local piece = 500
local page = redis.call('ZSCAN', KEYS[1], ARGV[7], 'COUNT', piece)
local found = { page[1] }
for at = 1, #page[2], 2 do
  local id = page[2][at]
  local token = Keys.jobFields(lane, id, 'token')[1]
  if token and string.sub(token, 2, 1 + #mine) == mine then
    local number = tonumber(string.sub(token, 2 + #mine))
    if number and number >= first and number < last then
      found[#found + 1] = id
      found[#found + 1] = token
    end
  end
end
return found
