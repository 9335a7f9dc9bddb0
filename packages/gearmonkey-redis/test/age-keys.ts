import type { Redis } from 'ioredis'

/** Makes all times that a store holds `ARGV[1]` milliseconds older. */
const script = `
local ms = tonumber(ARGV[1])
local function shift(key, by)
  local pairs = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for at = 1, #pairs, 2 do
    if pairs[at + 1] ~= 'inf' then redis.call('ZINCRBY', key, -by, pairs[at]) end
  end
end
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', key).ok
  if kind == 'zset' then
    shift(key, string.match(key, '^queue:.*:scheduled$') and ms / 1000 or ms)
  elseif kind == 'hash' and string.match(key, '^job:') then
    local enqueued = redis.call('HGET', key, 'enqueued')
    if enqueued then redis.call('HSET', key, 'enqueued', string.format('%.0f', enqueued - ms)) end
  end
end
return 1
`

/** Time passes for the store without anybody waiting for it. */
export async function ageKeys(redis: Redis, ms: number): Promise<void> {
  await redis.eval(script, 0, ms)
}
