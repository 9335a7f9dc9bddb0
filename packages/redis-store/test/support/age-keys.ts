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
  if kind == 'zset' and string.match(key, '^xg:turns:') then
    -- Jobs that wait for their turn are named with the time at which they came.
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      local value, level, us, id = string.match(member, '^(.*)%z(%d)(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)%z(%d+)$')
      if value then
        redis.call('ZREM', key, member)
        redis.call('ZADD', key, 0, value .. '\\0' .. level .. string.format('%017.0f', us - 1000 * ms) .. '\\0' .. id)
      end
    end
  elseif kind == 'zset' then
    -- Due times are seconds, and ranks microseconds.
    local unit = string.match(key, '^queue:.*:scheduled$') and 0.001 or string.match(key, '^xg:ready:') and 1000 or 1
    shift(key, ms * unit)
    -- A candidate is named with the time at which it was queued.
    for _, member in ipairs(string.match(key, '^xg:suspects:') and redis.call('ZRANGE', key, 0, -1) or {}) do
      local name, enqueued = string.match(member, '^(i%d+ )(%S+)$')
      if name then
        redis.call('ZADD', key, redis.call('ZSCORE', key, member), name .. string.format('%.3f', enqueued - ms))
        redis.call('ZREM', key, member)
      end
    end
  elseif kind == 'hash' and string.match(key, '^job:') then
    local left = redis.call('PTTL', key)
    if left > ms then redis.call('PEXPIRE', key, left - ms) end
    local isOver = left > 0 and left <= ms
    if isOver then redis.call('DEL', key) end
    local stale = not isOver and redis.call('HGET', key, 'stale')
    if stale then redis.call('HSET', key, 'stale', string.format('%.0f', stale - ms)) end
    for _, field in ipairs(isOver and {} or { 'enqueued', 'arrived' }) do
      local time = redis.call('HGET', key, field)
      if time then redis.call('HSET', key, field, string.format('%.3f', time - ms)) end
    end
  elseif kind == 'hash' and string.match(key, '^xg:lane:') then
    local closed = redis.call('HGET', key, 'closed')
    if closed then redis.call('HSET', key, 'closed', string.format('%.0f', closed - ms)) end
    local since, id = string.match(redis.call('HGET', key, 'idle') or '', '^(%d+) (.*)$')
    if since then redis.call('HSET', key, 'idle', string.format('%.0f ', since - ms) .. id) end
    local last, seen = string.match(redis.call('HGET', key, 'seen') or '', '^(%d+) (%d+)$')
    if last then redis.call('HSET', key, 'seen', last .. string.format(' %.0f', seen - ms)) end
  elseif kind == 'list' and (string.match(key, '^xg:rate:') or string.match(key, '^xg:turn%-starts:')) then
    local starts, left = redis.call('LRANGE', key, 0, -1), redis.call('PTTL', key)
    redis.call('DEL', key)
    for _, start in ipairs(starts) do redis.call('RPUSH', key, string.format('%.0f', start - ms)) end
    redis.call('PEXPIRE', key, math.max(1, left - ms))
  elseif kind == 'string' and string.match(key, '^xg:once:') then
    redis.call('PEXPIRE', key, math.max(1, redis.call('PTTL', key) - ms))
    if redis.call('PTTL', key) <= 1 then redis.call('DEL', key) end
  end
end
return 1
`

/** Time passes for the store without anybody waiting for it. */
export async function ageKeys(redis: Redis, ms: number): Promise<void> {
  await redis.eval(script, 0, ms)
}
