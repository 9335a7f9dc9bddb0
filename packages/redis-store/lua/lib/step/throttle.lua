-- Limits of a queue or a function. A throttle = { queue (its name), concurrency (0: any), rate (jobs; 0: any), per (ms),
-- timeout (how long a job takes a slot, ms; 0: until it ends), perWorker (jobs of a worker; 0: any), worker }.

Throttle.looked = 200 -- slots of a full limit that a claim looks at

function Throttle.of(lane, id) return lane .. '\0' .. id end

function Throttle.limits(throttle) return throttle.concurrency > 0 or throttle.perWorker > 0 end

-- Returns 1, or 0 if the slot was free.
function Throttle.free(queue, slot)
  if redis.call('ZREM', Keys.slots(queue), slot) == 0 then return 0 end
  local worker = redis.call('HGET', Keys.slotWorkers(queue), slot)
  if worker then
    redis.call('HDEL', Keys.slotWorkers(queue), slot)
    redis.call('ZREM', Keys.workerSlots(queue), worker .. '\0' .. slot)
  end
  return 1
end

-- Takes a slot for a job.
function Throttle.take(throttle, slot, now)
  redis.call('ZADD', Keys.slots(throttle.queue), now, slot)
  if throttle.perWorker == 0 then return end
  redis.call('HSET', Keys.slotWorkers(throttle.queue), slot, throttle.worker)
  redis.call('ZADD', Keys.workerSlots(throttle.queue), 0, throttle.worker .. '\0' .. slot)
end

function Throttle.areTaken(throttle)
  local queue, worker = throttle.queue, throttle.worker
  if throttle.concurrency > 0 and redis.call('ZCARD', Keys.slots(queue)) >= throttle.concurrency then return true end
  if throttle.perWorker == 0 then return false end
  local held = redis.call('ZLEXCOUNT', Keys.workerSlots(queue), '[' .. worker .. '\0', '(' .. worker .. '\1')
  return held >= throttle.perWorker
end

-- Slots that were taken at a time still to come are taken now: the server's clock was set back since.
function Throttle.redate(queue, now)
  for _, slot in
    ipairs(redis.call('ZRANGEBYSCORE', Keys.slots(queue), '(' .. Keys.integer(now), '+inf', 'LIMIT', 0, 1000))
  do
    redis.call('ZADD', Keys.slots(queue), Keys.integer(now), slot)
  end
end

-- True if a throttle lets one more job be handed out now. `waitMs`: how long until time alone makes room.
function Throttle.hasRoom(throttle, now)
  local queue, timeout = throttle.queue, throttle.timeout
  if throttle.rate > 0 then
    local waitMs = Rates.rateWait(Keys.rate(queue), throttle.rate, throttle.per, now)
    if waitMs > 0 then
      throttle.full, throttle.waitMs = true, waitMs
      return false
    end
  end
  if not Throttle.limits(throttle) then return true end
  if timeout > 0 then Throttle.redate(queue, now) end
  -- Slots of jobs that have had them for too long are free.
  local overdue = timeout > 0
    and redis.call('ZRANGEBYSCORE', Keys.slots(queue), '-inf', now - timeout, 'LIMIT', 0, 1000)
  for _, slot in ipairs(overdue or {}) do
    Throttle.free(queue, slot)
  end
  if not Keys.isCluster and Throttle.areTaken(throttle) then
    -- Slots whose job is no longer leased were left by a step without throttles. Each millisecond looks at another piece.
    local from = now * Throttle.looked % math.max(1, redis.call('ZCARD', Keys.slots(queue)) - Throttle.looked + 1)
    for _, slot in ipairs(redis.call('ZRANGE', Keys.slots(queue), from, from + Throttle.looked - 1)) do
      local lane, id = string.match(slot, '^(.*)%z(%d+)$')
      if not redis.call('ZSCORE', Keys.busy(lane), id) then Throttle.free(queue, slot) end
    end
  end
  if not Throttle.areTaken(throttle) then return true end
  throttle.full = true
  if timeout > 0 then
    local first = redis.call('ZRANGE', Keys.slots(queue), 0, 0, 'WITHSCORES')[2]
    throttle.waitMs = math.max(1, tonumber(first) + timeout - now)
  end
  return false
end

-- True if all throttles of a lane (nil: none) let one more job be handed out now.
function Throttle.mayTake(throttles, now)
  if not throttles then return true end
  for _, throttle in ipairs(throttles) do
    if throttle.full or not Throttle.hasRoom(throttle, now) then return false end
  end
  return true
end

-- Adds a throttle to those of a lane.
function Throttle.limitLane(claim, lane, throttle)
  local throttles = claim.byLane[lane] or {}
  for _, known in ipairs(throttles) do
    if known == throttle then return end
  end
  throttles[#throttles + 1], claim.byLane[lane] = throttle, throttles
end

-- Notes that a job was handed out.
function Throttle.tookThrottled(throttle, lane, id, now)
  if Throttle.limits(throttle) then Throttle.take(throttle, Throttle.of(lane, id), now) end
  if throttle.rate > 0 then Rates.noteStart(Keys.rate(throttle.queue), throttle.rate, throttle.per, now) end
end
