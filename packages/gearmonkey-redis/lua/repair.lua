-- Puts right what native programs left behind in a lane and what has not changed for a lease.
-- KEYS: xg:suspects:{lane}. ARGV: open, close, lane, node, queue (its hint index, empty for none), lease
-- (ms), 1 to change nothing, most, most losses (0: no limit), failure JSON of a job that has them, dead set's most,
-- dead seconds.
-- Returns { kind, id } flat: b a silent worker's job, i a stray, h counts that nobody stands for.
--#include keys
--#include levels
--#include jobs
--#include native
local lane, node, queue, lease, dry = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7] == '1'
local most, mostLosses, failure = tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10]
local deadMost, deadSeconds = tonumber(ARGV[11]), tonumber(ARGV[12])
local now, found, back = nowMs(), {}, {}
-- Entries of queues that one call may look through, some 20 ms of the server's time.
local entries = 1000000
if not pcall(needQueues, lane) then return found end

local function bury(job)
  --#include dead
  redis.call('HSET', jobKey(lane, job.id), 'output', '', 'failure', failure)
  buryJob(lane, job, node, now, deadMost, deadSeconds)
end

local function putBack(id, lost)
  local key = jobKey(lane, id)
  local losses = lost and redis.call('HINCRBY', key, 'losses', 1) or 0
  local v = redis.call('HMGET', key, 'door', 'unique', 'jid', 'wait', 'keep', 'level')
  if mostLosses > 0 and losses >= mostLosses then
    local job = { id = id, door = v[1], unique = v[2], jid = v[3], waiting = v[4], keep = v[5] }
    if redis.call('HEXISTS', key, 'fg') == 1 then finishJob(lane, job, node, 'error', '') else bury(job) end
    redis.call('HINCRBY', metaKey(lane), 'failed', 1)
    return
  end
  redis.call('HSET', key, 'status', 'idle', 'enqueued', stamp(nowUs()))
  redis.call('HDEL', key, 'status:dividend', 'status:divisor')
  back[#back + 1] = { id, v[6] }
end

local function isQueued(id)
  for _, band in ipairs({ 'high', 'normal', 'low' }) do
    local key = queueKey(lane, band)
    entries = entries - redis.call('LLEN', key)
    if redis.call('LPOS', key, id) then return true end
  end
  return redis.call('ZSCORE', queueKey(lane, 'scheduled'), id)
end

-- Per kind of suspect: whether it is still what it was, and what puts it right.
local rules = {
  b = {
    holds = function(id, member)
      local v = jobFields(lane, id, 'status', 'token', 'status:dividend', 'status:divisor')
      return v[1] == 'busy' and not v[2] and busySuspect(id, v[3], v[4]) == member
    end,
    mend = function(id) putBack(id, true) end,
  },
  i = {
    holds = function(id)
      local v = jobFields(lane, id, 'status', 'token')
      return v[1] == 'idle' and not v[2] and not isQueued(id)
    end,
    mend = function(id) putBack(id, false) end,
  },
}

for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - lease, 'LIMIT', 0, most)) do
  if entries <= 0 then break end
  local kind, id = string.sub(member, 1, 1), string.match(member, '^.(%d*)')
  local rule = rules[kind]
  if rule.holds(id, member) then
    found[#found + 1] = kind
    found[#found + 1] = id
    if dry then
      redis.call('ZADD', KEYS[1], now, member)
    else
      redis.call('ZREM', KEYS[1], member)
      rule.mend(id)
    end
  else
    redis.call('ZREM', KEYS[1], member)
  end
end

-- A living native worker would have taken the next job, or would be busy with another.
local function mendCounts()
  local line = lineKey(lane)
  local present = idleSign(lane)
  -- That more left than came needs no second look.
  local isSure = present == 'less' and not dry
  local sign = isSure and present or redis.call('ZRANGEBYSCORE', line, '-inf', now - lease)[1]
  if not sign or present ~= sign then return false end
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    if string.sub(member, 1, 1) == 'b' and sign ~= 'less' then return false end
  end
  found[#found + 1] = 'h'
  found[#found + 1] = sign == 'less' and '0' or sign
  if dry then
    redis.call('ZADD', line, now, sign)
    return false
  end
  local _, behindNodes = nativeWorkers(lane)
  redis.call('DEL', line)
  redis.call('SET', laneKey('count', lane), behindNodes)
  return true
end

local freed = mendCounts()
if #back > 0 then
  enqueue(lane, back)
  hintReady(queue, lane, now)
end
if #back > 0 or freed then
  redis.call('PUBLISH', eventsChannel, 'wake\0' .. lane .. '\0' .. math.max(#back, 1))
end
return found
