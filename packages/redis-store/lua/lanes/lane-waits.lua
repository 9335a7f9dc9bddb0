-- Tells what decides when jobs of lanes are handed out.
-- KEYS:
--   1 xg:lane:{lane} of the first: hash
-- ARGV:
--   3 1 if the automatic rule opens lanes to consumers: flag
--   4 and more, per lane: lane: string; how many jobs are asked about, and their ids: integers
-- Returns per lane { open, shut (by an operator), closed or auto; by-name workers; consumers; workers that may get its jobs; until
-- when by-name workers close it (ms, empty: none was there); its next job (empty: none); then per job: when it is too old (ms, or
-- empty); 1 if it waits for its turn; the value of that; { jobs of the value that wait, and that run }; when its rate has room
-- (ms, or empty) }.
local isAutoOpen, now, found, at = ARGV[3] == '1', Keys.nowMs(), {}, 4

local function nextOf(lane)
  for _, band in ipairs(Keys.bands) do
    -- Another program may have put another type in the place of a queue.
    local id = redis.pcall('LINDEX', Keys.queue(lane, band), -1)
    if type(id) == 'string' then return id end
  end
  return ''
end

local function countOf(key, value) return redis.call('ZLEXCOUNT', key, '[' .. value .. '\0', '(' .. value .. '\1') end

local function addJob(answer, lane, id)
  local job = Keys.jobFields(lane, id, 'stale', 'turn')
  local score = redis.pcall('ZSCORE', Keys.queue(lane, 'scheduled'), id)
  -- Jobs that wait for their turn stand there: see turns.lua.
  local isInTurns = type(score) == 'string' and tonumber(score) >= 5e13
  local value, counts, due = job[2] or '', { 0, 0 }, nil
  if isInTurns then
    counts = { countOf(Keys.turnWaiting(lane), value), countOf(Keys.turnRunning(lane), value) }
    due = redis.call('ZSCORE', Keys.turnDue(lane), value)
  end
  local place = #answer
  answer[place + 1], answer[place + 2], answer[place + 3] = job[1] or '', isInTurns and 1 or 0, value
  answer[place + 4], answer[place + 5] = counts, due or ''
end

while at <= #ARGV do
  local lane, count = ARGV[at], tonumber(ARGV[at + 1])
  local meta = redis.call('HMGET', Keys.meta(lane), 'open', 'closed', 'consumers', 'labelled')
  local consumers, workers = tonumber(meta[3] or 0), Keys.countedWorkers(lane)
  local state = Lanes.opennessOf(lane, meta[1], meta[2], meta[3], now) or (meta[1] and 'shut' or 'closed')
  local gate = Lanes.gateOf(meta[1], meta[2], now)
  local able = Lanes.ableWorkers(workers, consumers, tonumber(meta[4] or 0), gate, isAutoOpen)
  local named = math.max(0, workers - consumers)
  local answer = { state, named, consumers, able, meta[2] or '', nextOf(lane) }
  for place = at + 2, at + 1 + count do
    addJob(answer, lane, ARGV[place])
  end
  found[#found + 1] = answer
  at = at + 2 + count
end
return found
