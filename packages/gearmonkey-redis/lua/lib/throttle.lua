-- What may be handed out of a queue that has a limit. A throttle = { queue, concurrency (0: any), rate
-- (jobs; 0: any), per (ms) }. Needs keys.lua.

local function slotOf(lane, id) return lane .. '\0' .. id end

-- A slot whose job is reserved no more was left by a step that knows no throttles.
local function pruneSlots(key)
  for _, slot in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    local lane, id = string.match(slot, '^(.*)%z(%d+)$')
    if not redis.call('ZSCORE', busyKey(lane), id) then redis.call('ZREM', key, slot) end
  end
end

-- Whether one more job may be handed out now. Where the rate forbids it, `waitMs` is how long.
local function mayTake(throttle, now)
  if not throttle then return true end
  if throttle.rate > 0 then
    local start = tonumber(redis.call('LINDEX', rateKey(throttle.queue), throttle.rate - 1) or 0)
    if start > 0 and start + throttle.per > now then
      throttle.full, throttle.waitMs = true, start + throttle.per - now
      return false
    end
  end
  if throttle.concurrency > 0 then
    local key = slotsKey(throttle.queue)
    if not isCluster and redis.call('ZCARD', key) >= throttle.concurrency then pruneSlots(key) end
    if redis.call('ZCARD', key) >= throttle.concurrency then
      throttle.full = true
      return false
    end
  end
  return true
end

-- A job has been handed out.
local function tookThrottled(throttle, lane, id, now)
  if throttle.concurrency > 0 then redis.call('ZADD', slotsKey(throttle.queue), now, slotOf(lane, id)) end
  if throttle.rate > 0 then
    local key = rateKey(throttle.queue)
    redis.call('LPUSH', key, integer(now))
    redis.call('LTRIM', key, 0, throttle.rate - 1)
    redis.call('PEXPIRE', key, integer(throttle.per))
  end
end
