-- Ends or interrupts reservations of one lane.
-- KEYS: xg:busy:{lane}. ARGV: open, close, packed: lane, node, queue (its hint index, empty for none), dead
-- set's most, dead seconds, count, then per outcome: kind, id, token, and three strings:
--   complete: output, -, -        fail: message, 1 if thrown, failure JSON (empty: not kept)
--   retry: message, delay (ms), failure JSON      dead: message, -, failure JSON
--   release: 1 if lost, most losses (0: no limit), failure JSON      return: -, -, -
-- Background jobs that failed for good are kept among the dead. The failure of another goes to its clients.
-- The token `native` stands for what a native worker wrote: a final status that is not settled yet.
-- Returns a digit per outcome: 1 done, 2 released, 3 dropped, 0 unknown.
--#include keys
--#include jobs
--#include losses
--#include throttle
--#include packed
local given = unpackedArguments(3)
local lane, node, queue, deadMost, deadSeconds, count = unpack(given, 1, 6)
local meta, now, results, back, front, ended = metaKey(lane), nowMs(), {}, {}, {}, {}
local throttled, freed = queue ~= '' and redis.call('EXISTS', slotsKey(queue)) == 1, 0
local counts = { completed = 0, failed = 0, retried = 0 }

local function isHeld(job, token)
  if token == 'native' then
    -- A native worker publishes `finish` once it has set how long the hash stays.
    job.isAnnounced = redis.call('TTL', jobKey(lane, job.id)) >= 0
    local v = redis.call('HMGET', jobKey(lane, job.id), 'settled', 'status')
    return job.door and not job.token and not v[1] and (v[2] == 'success' or v[2] == 'error')
  end
  return job.token == token
end

local function schedule(job, message, delayMs, failure)
  local due = now + delayMs
  local key = jobKey(lane, job.id)
  if job.door == 'faktory' then untie(lane, job.id, 'retried') end
  redis.call('HSET', key, 'status', 'idle', 'output', message, 'failure', failure)
  redis.call('HDEL', key, 'token', 'status:dividend', 'status:divisor')
  redis.call('PERSIST', key)
  redis.call('ZADD', queueKey(lane, 'scheduled'), due / 1000, job.id)
  redis.call('ZADD', retriesKey(lane), due, job.id)
  if job.door ~= 'faktory' and string.sub(job.token or '', 1, 1) == 'a' then
    redis.call('ZADD', bridgedKey(lane), due, job.id)
  end
  if not isCluster then redis.call('ZADD', dueKey, 'LT', due, lane) end
  return 1
end

local function bury(job, message, failure)
  --#include dead
  redis.call('HSET', jobKey(lane, job.id), 'output', message, 'failure', failure)
  buryJob(lane, job, node, now, deadMost, deadSeconds)
end

local function fail(job, message, thrown, failure)
  local key = jobKey(lane, job.id)
  job.how = 'failed'
  if failure ~= '' and redis.call('HEXISTS', key, 'fg') == 0 then
    bury(job, message, failure)
  else
    finishJob(lane, job, node, 'error', message)
  end
  if thrown and message == '' and redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'thrown', 1) end
  counts.failed = counts.failed + 1
end

local function interrupt(job, into)
  local key = jobKey(lane, job.id)
  local level = redis.call('HGET', key, 'level')
  redis.call('HSET', key, 'status', 'idle')
  redis.call('HDEL', key, 'token', 'status:dividend', 'status:divisor')
  into[#into + 1] = { job.id, level }
  return 2
end

local function release(job, lost, mostLosses, failure)
  if endsWithWorker(lane, job.id, job.waiting, lost, mostLosses) then
    fail(job, '', false, failure)
    return 3
  end
  redis.call('HSET', jobKey(lane, job.id), 'enqueued', stamp(nowUs()))
  return interrupt(job, back)
end

local function putBack()
  --#include levels
  if #back > 0 then enqueue(lane, back) end
  if #front > 0 then requeue(lane, front) end
  hintReady(queue, lane, now)
  redis.call('PUBLISH', eventsChannel, 'wake\0' .. lane .. '\0' .. #back + #front)
end

for kind = 7, 6 + 6 * count, 6 do
  if given[kind] == 'release' or given[kind] == 'return' or given[kind] == 'retry' then
    needQueues(lane)
    break
  end
end
local at = 7
for index = 1, count do
  local kind, id, token, a, b, c = unpack(given, at, at + 5)
  at = at + 6
  local v = redis.call('HMGET', jobKey(lane, id), 'token', 'door', 'unique', 'jid', 'wait', 'keep')
  local job = { id = id, token = v[1], door = v[2], unique = v[3], jid = v[4], waiting = v[5], keep = v[6] }
  local result = 0
  if isHeld(job, token) then
    ended[#ended + 1] = id
    if throttled then freed = freed + freeSlot(queue, slotOf(lane, id)) end
    if kind == 'complete' then
      finishJob(lane, job, node, 'success', a)
      counts.completed, result = counts.completed + 1, 1
    elseif kind == 'fail' then
      fail(job, a, b == '1', c)
      result = 1
    elseif kind == 'retry' then
      result = schedule(job, a, b, c)
      counts.retried = counts.retried + 1
    elseif kind == 'dead' then
      fail(job, a, false, c)
      result = 1
    elseif kind == 'return' then
      result = interrupt(job, front)
    else
      result = release(job, a == '1', b, c)
    end
  end
  results[index] = result
end

if #ended > 0 then pushAll('ZREM', KEYS[1], ended) end
if #back + #front > 0 then putBack() end
-- Who waits for room in the queue is woken by what is next in it.
if freed > 0 then
  local following = redis.call('ZRANGE', readyKey(queue), 0, 0)[1]
  if following then redis.call('PUBLISH', eventsChannel, 'wake\0' .. following .. '\0' .. freed) end
end
for name, count in pairs(counts) do
  if count > 0 then redis.call('HINCRBY', meta, name, count) end
end
return table.concat(results)
