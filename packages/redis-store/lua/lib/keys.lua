-- Key names, the twin of keys.ts. The first two arguments of each call are the braces around a lane, a queue or `xg`: { and } in
-- a cluster, else empty. In a cluster they make that part the hash tag, so that all keys of a call share a slot and need not all
-- be in KEYS. `database` is the server's, for channels.
Keys.eventsChannel = 'xg:events:' .. database

-- The prefixes of the lane used last.
local jobsLane, jobsPrefix, queuesLane, queuesPrefix, channelLane, channel

-- Calls of one gateway all have the same braces.
function Keys.begin(open, close)
  if open == Keys.open then return end
  Keys.open, Keys.close, Keys.isCluster = open, close, open ~= ''
  jobsLane, queuesLane, channelLane = nil, nil, nil
  local broker = open .. 'xg' .. close
  Keys.broker = broker
  Keys.batches, Keys.callbacks, Keys.joins = broker .. ':batches', broker .. ':callbacks', broker .. ':joins'
  Keys.deadlines, Keys.due = broker .. ':deadlines', broker .. ':due'
  Keys.lanes, Keys.former, Keys.totals = broker .. ':lanes', broker .. ':former', broker .. ':totals'
  Keys.nodes, Keys.deaths, Keys.libraries = broker .. ':nodes', broker .. ':deaths', broker .. ':libraries'
end

function Keys.of(kind, lane) return kind .. ':' .. Keys.open .. lane .. Keys.close end
function Keys.job(lane, id)
  if lane ~= jobsLane then
    jobsLane, jobsPrefix = lane, Keys.of('job', lane) .. ':'
  end
  return jobsPrefix .. id
end
function Keys.queue(lane, place)
  if lane ~= queuesLane then
    queuesLane, queuesPrefix = lane, Keys.of('queue', lane) .. ':'
  end
  return queuesPrefix .. place
end
function Keys.channelOf(lane)
  if lane ~= channelLane then
    channelLane, channel = lane, Keys.of('channel', lane)
  end
  return channel
end
function Keys.busy(lane) return Keys.of('xg:busy', lane) end
function Keys.dead(lane) return Keys.of('xg:dead', lane) end
function Keys.retries(lane) return Keys.of('xg:retries', lane) end
function Keys.bridged(lane) return Keys.of('xg:bridged', lane) end
function Keys.unique(lane) return Keys.of('xg:unique', lane) end
function Keys.jid(lane) return Keys.of('xg:jid', lane) end
function Keys.repairCandidates(lane) return Keys.of('xg:suspects', lane) end
function Keys.line(lane) return Keys.of('xg:line', lane) end
function Keys.uniqueLock(lane) return Keys.of('xg:once', lane) end
function Keys.ticks(lane) return Keys.of('xg:ticks', lane) end
function Keys.turnHolders(lane) return Keys.of('xg:turn-holders', lane) end
function Keys.turnDue(lane) return Keys.of('xg:turn-due', lane) end
-- No other key of this kind is without one of these ends: a lane `a:waiting` has `xg:turns:a:waiting:waiting`.
function Keys.turnWaiting(lane) return Keys.of('xg:turns', lane) .. ':waiting' end
function Keys.turnRunning(lane) return Keys.of('xg:turns', lane) .. ':running' end
function Keys.turnStarts(lane, value) return Keys.of('xg:turn-starts', lane) .. ':' .. value .. ':' .. #value end
function Keys.level(lane, level) return Keys.of('xg:level', lane) .. ':' .. level end
function Keys.meta(lane) return Keys.of('xg:lane', lane) end
function Keys.batchOutbox(lane) return Keys.of('xg:ties', lane) end
function Keys.joined(lane, note) return Keys.of('xg:joined', lane) .. ':' .. note end
-- Keys of all that a lane holds: its queues, leases, dead jobs and workers. Built together, which costs half.
function Keys.placeKeys(lane)
  local tag = Keys.open .. lane .. Keys.close
  local queue = 'queue:' .. tag .. ':'
  return queue .. 'normal',
    queue .. 'high',
    queue .. 'low',
    queue .. 'scheduled',
    'xg:busy:' .. tag,
    'xg:dead:' .. tag,
    'count:' .. tag
end
function Keys.ready(queue) return Keys.of('xg:ready', queue) end
function Keys.slots(queue) return Keys.of('xg:slots', queue) end
function Keys.slotWorkers(queue) return Keys.of('xg:slot-workers', queue) end
function Keys.workerSlots(queue) return Keys.of('xg:worker-slots', queue) end
function Keys.rate(queue) return Keys.of('xg:rate', queue) end
function Keys.held(holder) return Keys.broker .. ':held:' .. holder end
function Keys.batch(bid) return Keys.broker .. ':batch:' .. bid end
function Keys.input(node, number) return 'xg:input:' .. node .. ':' .. number end
function Keys.newsChannel(lane) return 'xg:news:' .. database .. (lane and ':' .. lane or '') end
function Keys.nodeChannel(node) return 'xg:node:' .. database .. ':' .. node end
function Keys.jids(slot) return Keys.open == '' and 'xg:jids' or Keys.of('xg:jids', slot) end
function Keys.ended(jid) return 'xg:ended:' .. jid end

-- A message of several fields, with the length of each in bytes at the end, as fieldsOf in frames.ts reads it.
function Keys.framed(...)
  local fields, lengths = { ... }, {}
  for at = 1, #fields do
    fields[at] = tostring(fields[at])
    lengths[at] = #fields[at]
  end
  return table.concat(fields, '\0') .. '\0=' .. table.concat(lengths, ',')
end
-- Queues of due jobs, the first to be served first.
Keys.bands = { 'high', 'normal', 'low' }

-- Fields of a job's hash; none if another program has put another type in its place.
function Keys.jobFields(lane, id, ...)
  local fields = redis.pcall('HMGET', Keys.job(lane, id), ...)
  return fields.err and {} or fields
end

-- Workers counted for a lane.
function Keys.countedWorkers(lane) return tonumber(redis.pcall('GET', Keys.of('count', lane))) or 0 end

-- Raises an error if another program has put another type in the place of a queue, before a step changes anything.
function Keys.assertQueueTypes(lane)
  for _, band in ipairs(Keys.bands) do
    redis.call('LLEN', Keys.queue(lane, band))
  end
  redis.call('ZCARD', Keys.queue(lane, 'scheduled'))
end

-- Forgets that a job waits for a retry.
function Keys.forgetRetry(lane, id)
  redis.call('ZREM', Keys.retries(lane), id)
  redis.call('ZREM', Keys.bridged(lane), id)
end

function Keys.nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

function Keys.nowUs()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- Texts of 0 to 999 with three digits, and of the thousands met lately: most numbers are near the last ones, and to join
-- two texts costs a third of printing one. A function of the server keeps both from call to call.
local digits = { [0] = '000' }
local thousands = { count = 0 }
local maxThousands = 256

local function lastDigits(number)
  local text = digits[number]
  if not text then
    text = string.format('%03d', number)
    digits[number] = text
  end
  return text
end

-- Prints 1700000000000, not 1.7e+12. In parts that fit a C `int`: %d costs half of what %.0f does.
function Keys.integer(number)
  if number < 1000 then return string.format('%d', number) end
  number = number - number % 1
  local last = number % 1000
  local above = (number - last) / 1000
  local text = thousands[above]
  if not text then
    text = above < 2147483648 and string.format('%d', above) or string.format('%d%09d', above / 1e9, above % 1e9)
    if thousands.count == maxThousands then
      for known in pairs(thousands) do
        thousands[known] = nil
      end
      thousands.count = 0
    end
    thousands[above], thousands.count = text, thousands.count + 1
  end
  return text .. lastDigits(last)
end

-- Microseconds as `enqueued` has them: milliseconds with three decimals.
function Keys.stamp(us)
  us = us - us % 1
  local last = us % 1000
  return Keys.integer((us - last) / 1000) .. '.' .. lastDigits(last)
end
