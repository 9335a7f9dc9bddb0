-- Key names, the twin of keys.ts. ARGV[1] and ARGV[2] are the braces around a lane, a queue or `xg`: { and } in a
-- cluster, else empty. In a cluster they make that part the hash tag, so that all keys of a script share a slot and
-- need not all be in KEYS. `database` is the server's, for channels.
--#include fields
local open, close = ARGV[1], ARGV[2]
local function laneKey(kind, lane) return kind .. ':' .. open .. lane .. close end
-- Cached: the prefix of the lane used last.
local jobsLane, jobsPrefix
local function jobKey(lane, id)
  if lane ~= jobsLane then
    jobsLane, jobsPrefix = lane, laneKey('job', lane) .. ':'
  end
  return jobsPrefix .. id
end
local queuesLane, queuesPrefix
local function queueKey(lane, place)
  if lane ~= queuesLane then
    queuesLane, queuesPrefix = lane, laneKey('queue', lane) .. ':'
  end
  return queuesPrefix .. place
end
local channelLane, channel
local function channelOf(lane)
  if lane ~= channelLane then
    channelLane, channel = lane, laneKey('channel', lane)
  end
  return channel
end
local function busyKey(lane) return laneKey('xg:busy', lane) end
local function deadKey(lane) return laneKey('xg:dead', lane) end
local function retriesKey(lane) return laneKey('xg:retries', lane) end
local function bridgedKey(lane) return laneKey('xg:bridged', lane) end
local function uniqueKey(lane) return laneKey('xg:unique', lane) end
local function jidKey(lane) return laneKey('xg:jid', lane) end
local function repairCandidatesKey(lane) return laneKey('xg:suspects', lane) end
local function lineKey(lane) return laneKey('xg:line', lane) end
local function uniqueLockKey(lane) return laneKey('xg:once', lane) end
local function ticksKey(lane) return laneKey('xg:ticks', lane) end
local function turnHoldersKey(lane) return laneKey('xg:turn-holders', lane) end
local function turnDueKey(lane) return laneKey('xg:turn-due', lane) end
-- No other key of this kind is without one of these ends: a lane `a:waiting` has `xg:turns:a:waiting:waiting`.
local function turnWaitingKey(lane) return laneKey('xg:turns', lane) .. ':waiting' end
local function turnRunningKey(lane) return laneKey('xg:turns', lane) .. ':running' end
local function turnStartsKey(lane, value) return laneKey('xg:turn-starts', lane) .. ':' .. value .. ':' .. #value end
local function levelKey(lane, level) return laneKey('xg:level', lane) .. ':' .. level end
local function metaKey(lane) return laneKey('xg:lane', lane) end
local function batchOutboxKey(lane) return laneKey('xg:ties', lane) end
local function joinedKey(lane, note) return laneKey('xg:joined', lane) .. ':' .. note end
-- Keys of all that a lane holds: its queues, leases, dead jobs and workers. Built together, which costs half.
local function placeKeys(lane)
  local tag = open .. lane .. close
  local queue = 'queue:' .. tag .. ':'
  return queue .. 'normal',
    queue .. 'high',
    queue .. 'low',
    queue .. 'scheduled',
    'xg:busy:' .. tag,
    'xg:dead:' .. tag,
    'count:' .. tag
end
local function readyKey(queue) return laneKey('xg:ready', queue) end
local function slotsKey(queue) return laneKey('xg:slots', queue) end
local function slotWorkersKey(queue) return laneKey('xg:slot-workers', queue) end
local function workerSlotsKey(queue) return laneKey('xg:worker-slots', queue) end
local function rateKey(queue) return laneKey('xg:rate', queue) end
local broker = open .. 'xg' .. close
local function heldKey(holder) return broker .. ':held:' .. holder end
local function batchKey(bid) return broker .. ':batch:' .. bid end
local function inputKey(node, number) return 'xg:input:' .. node .. ':' .. number end
local function newsChannel(lane) return 'xg:news:' .. database .. (lane and ':' .. lane or '') end
local function nodeChannel(node) return 'xg:node:' .. database .. ':' .. node end
local dueKey, callbacksKey, joinsKey = broker .. ':due', broker .. ':callbacks', broker .. ':joins'
local deadlinesKey = broker .. ':deadlines'
local batchesKey = broker .. ':batches'
local function jidsKey(slot) return open == '' and 'xg:jids' or laneKey('xg:jids', slot) end
local function endedKey(jid) return 'xg:ended:' .. jid end
local eventsChannel = 'xg:events:' .. database

-- A message of several fields, with the length of each in bytes at the end, as fieldsOf in frames.ts reads it.
local function framed(...)
  local fields, lengths = { ... }, {}
  for at = 1, #fields do
    fields[at] = tostring(fields[at])
    lengths[at] = #fields[at]
  end
  return table.concat(fields, '\0') .. '\0=' .. table.concat(lengths, ',')
end
local isCluster = open ~= ''

-- Queues of due jobs, the first to be served first.
local bands = { 'high', 'normal', 'low' }

-- Fields of a job's hash; none if another program has put another type in its place.
local function jobFields(lane, id, ...)
  local fields = redis.pcall('HMGET', jobKey(lane, id), ...)
  return fields.err and {} or fields
end

-- Workers counted for a lane.
local function countedWorkers(lane) return tonumber(redis.pcall('GET', laneKey('count', lane))) or 0 end

-- Raises an error if another program has put another type in the place of a queue, before a step changes anything.
local function assertQueueTypes(lane)
  for _, band in ipairs(bands) do
    redis.call('LLEN', queueKey(lane, band))
  end
  redis.call('ZCARD', queueKey(lane, 'scheduled'))
end

-- Forgets that a job waits for a retry.
local function forgetRetry(lane, id)
  redis.call('ZREM', retriesKey(lane), id)
  redis.call('ZREM', bridgedKey(lane), id)
end

local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function nowUs()
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
local function integer(number)
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
local function stamp(us)
  us = us - us % 1
  local last = us % 1000
  return integer((us - last) / 1000) .. '.' .. lastDigits(last)
end
