-- Keeps the records of jobs that were deleted by one act, where there is room.
-- KEYS:
--   1 xg:kept: sorted set
--   2 xg:kept:<act>: list
-- ARGV:
--   3 how long they are kept: integer, ms
--   4 most acts: integer
--   5 most bytes of all acts: integer
--   6 name of the act: string
--   7 and more: the records: bytes
-- Returns 1, or 0 where there is no room.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local bytes, members = 0, redis.call('ZRANGE', KEYS[1], 0, -1)
if #members >= tonumber(ARGV[4]) then return 0 end
for at = 7, #ARGV do
  bytes = bytes + #ARGV[at]
end
local own = string.format('%.0f', bytes)
for _, member in ipairs(members) do
  bytes = bytes + tonumber(string.match(member, '^%d+'))
end
if bytes > tonumber(ARGV[5]) then return 0 end
for at = 7, #ARGV do
  redis.call('RPUSH', KEYS[2], ARGV[at])
end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('ZADD', KEYS[1], now + ARGV[3], own .. ' ' .. ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
