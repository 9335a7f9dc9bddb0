-- Tells which of some leases are of Faktory workers that have vanished.
-- KEYS:
--   1 xg:holders: sorted set
-- ARGV:
--   3 most workers that are looked at: integer
--   4 and more: tokens: strings
-- Returns { token, since when its worker is away (ms) } flat.
local found, tokens = {}, {}
for at = 4, #ARGV do
  tokens[#tokens + 1] = ARGV[at]
end
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', Keys.nowMs(), 'WITHSCORES', 'LIMIT', 0, ARGV[3])
for at = 1, #gone, 2 do
  local held = redis.call('HMGET', Keys.held(gone[at]), unpack(tokens))
  for place, job in ipairs(held) do
    if job then
      found[#found + 1] = tokens[place]
      found[#found + 1] = gone[at + 1]
    end
  end
end
return found
