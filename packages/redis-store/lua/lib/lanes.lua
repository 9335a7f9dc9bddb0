-- Decides if Faktory consumers get jobs of a lane. Fields of the lane's hash: `open` (1: open for good, 0: closed by an
-- operator), `closed` (by-name workers close it until then, ms).

-- By-name workers of the lane, behind gateways and native.
function Lanes.namedWorkers(lane, consumers) return Keys.countedWorkers(lane) - tonumber(consumers or 0) end

-- `open`: for good. `auto`: no by-name worker was seen for long enough. nil: closed. `named`: by-name workers, where
-- they were counted.
function Lanes.opennessOf(lane, open, closed, consumers, now, named)
  if open == '1' then return 'open' end
  if open or tonumber(closed or 0) > now or (named or Lanes.namedWorkers(lane, consumers)) > 0 then return nil end
  return 'auto'
end

function Lanes.openness(lane, now)
  local meta = redis.call('HMGET', Keys.meta(lane), 'open', 'closed', 'consumers')
  return Lanes.opennessOf(lane, meta[1], meta[2], meta[3], now)
end

-- The rule for consumers of a lane while no by-name worker is there: -1 open for good, -2 closed by an operator,
-- else until when workers that left close it (ms), or 0.
function Lanes.gateOf(open, closed, now)
  if open then return open == '1' and -1 or -2 end
  local untilMs = tonumber(closed or 0)
  return untilMs > now and untilMs or 0
end

-- Of all workers of a lane those that may get its jobs: where it is closed to consumers, not those without its label.
function Lanes.ableWorkers(workers, consumers, labelled, gate, isAutoOpen)
  if gate == -1 or (gate == 0 and isAutoOpen and workers <= consumers) then return workers end
  return math.max(0, workers - consumers + math.min(labelled, consumers))
end

-- A new `closed` of a lane whose by-name workers are there, or were until now. nil: it stays, which spares a write for a
-- minute at most, unless `exactly`.
function Lanes.closedAnew(closed, graceMs, now, exactly)
  local untilMs, current, step = now + graceMs, tonumber(closed or 0), exactly and 0 or 60000
  if current > untilMs or current < untilMs - step then return Keys.integer(untilMs) end
end

-- Notes that by-name workers are there, or were until now.
function Lanes.noteNamedWorkers(lane, closed, graceMs, now, exactly)
  local anew = Lanes.closedAnew(closed, graceMs, now, exactly)
  if anew then redis.call('HSET', Keys.meta(lane), 'closed', anew) end
end

-- Until when by-name workers close a lane (ms), and `shut` if an operator does.
function Lanes.closedUntil(lane, graceMs, now)
  local meta = redis.call('HMGET', Keys.meta(lane), 'open', 'closed', 'consumers')
  local closed = tonumber(meta[2] or 0)
  if Lanes.namedWorkers(lane, meta[3]) > 0 then closed = math.max(closed, now + graceMs) end
  return closed, meta[1] == '0' and 'shut' or ''
end

-- Closes a lane because of workers of its function in another. A dropped lane comes back.
function Lanes.closeUntil(lane, untilMs, shut)
  local meta = Keys.meta(lane)
  redis.call('PERSIST', meta)
  if shut == 'shut' then redis.call('HSETNX', meta, 'open', '0') end
  if untilMs > tonumber(redis.call('HGET', meta, 'closed') or 0) then
    redis.call('HSET', meta, 'closed', Keys.integer(untilMs))
  end
end
