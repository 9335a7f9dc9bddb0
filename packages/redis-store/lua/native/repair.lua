-- Repairs orphans of native programs in a lane that have not changed for a lease.
-- KEYS:
--   1 xg:suspects:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 queue (its hint index, empty for none): string
--   6 lease: integer, ms
--   7 what to do (nothing, strays, all): string
--   8 most: integer
--   9 most losses (0: no limit): integer
--   10 failure JSON of a job that has them: string
--   11 dead set's most: integer
--   12 dead seconds: integer, seconds
-- Returns { kind, id } flat: b a silent worker's job, k one that is left but for its unique key, i a stray, h counts
-- that nobody stands for.
local lane, node, queue, lease = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local dry, mendsAll = ARGV[7] == 'nothing', ARGV[7] ~= 'strays'
local most, maxLosses, failure = tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10]
local deadMost, deadSeconds = tonumber(ARGV[11]), tonumber(ARGV[12])
local now, found, back = Keys.nowMs(), {}, {}
local act = Places.actOn(lane, queue, now)
-- Queue entries that one call may read, some 3 ms of the server's time, and those of one look from the next job on:
-- requeued jobs stand there.
local entries, entriesPerLook = 40000, 20000
if not pcall(Keys.assertQueueTypes, lane) then return found end

local function bury(job)
  redis.call('HSET', Keys.job(lane, job.id), 'output', '', 'failure', failure)
  Dead.buryJob(lane, job, node, now, deadMost, deadSeconds, 'died')
end

local function putBack(id, lost)
  local key = Keys.job(lane, id)
  local v = redis.call('HMGET', key, 'door', 'unique', 'jid', 'wait', 'keep', 'level', 'losses', 'fg')
  local losses = lost and (Fields.whole(v[7]) or 0) + 1 or 0
  if lost then redis.call('HSET', key, 'losses', losses) end
  if maxLosses > 0 and losses >= maxLosses then
    local job = { id = id, door = v[1], unique = v[2], jid = v[3], waiting = v[4], keep = v[5] }
    if Fields.isForeground(v[1], v[8], v[4]) then
      Jobs.finishJob(lane, job, node, 'error', '')
      Books.book(lane, 'lost', 1)
    else
      bury(job)
    end
    return
  end
  redis.call('HSET', key, 'status', 'idle')
  Arrival.lineUp(key, Keys.nowUs())
  redis.call('HDEL', key, 'settled', 'status:dividend', 'status:divisor')
  back[#back + 1] = { id, v[6] }
end

local function isQueued(id, level, enqueued)
  if Order.seemsQueued(lane, id, level, enqueued) then return true end
  for _, band in ipairs(Keys.bands) do
    local key = Keys.queue(lane, band)
    entries = entries - math.min(entriesPerLook, redis.call('LLEN', key))
    if redis.call('LPOS', key, id, 'RANK', -1, 'MAXLEN', entriesPerLook) then return true end
  end
  return redis.call('ZSCORE', Keys.queue(lane, 'scheduled'), id)
end

-- Leaves the job as it is, but lets no other join it.
local function freeKey(id)
  local unique = Keys.jobFields(lane, id, 'unique')[1]
  if unique and redis.call('HGET', Keys.unique(lane), unique) == id then
    redis.call('HDEL', Keys.unique(lane), unique)
  end
end

-- Per kind of candidate: the check that it is still one, and the repair.
local rules = {
  b = {
    holds = function(id, member)
      local v = Keys.jobFields(lane, id, 'status', 'token', 'status:dividend', 'status:divisor')
      return v[1] == 'busy' and not v[2] and Native.busyCandidate(id, v[3], v[4]) == member
    end,
    mend = function(id)
      if mendsAll then
        putBack(id, true)
      else
        freeKey(id)
      end
    end,
  },
  i = {
    holds = function(id, member)
      local v = Keys.jobFields(lane, id, 'status', 'token', 'level', 'enqueued')
      return v[1] == 'idle' and not v[2] and Native.strayCandidate(id, v[4]) == member and not isQueued(id, v[3], v[4])
    end,
    mend = function(id) putBack(id, false) end,
  },
}

for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - lease, 'LIMIT', 0, most)) do
  if entries <= 0 then break end
  local kind, id = string.sub(member, 1, 1), string.match(member, '^.(%d*)')
  local rule = rules[kind]
  if rule.holds(id, member) then
    local isLeft = kind == 'b' and not mendsAll
    found[#found + 1] = isLeft and 'k' or kind
    found[#found + 1] = id
    if dry or isLeft then
      redis.call('ZADD', KEYS[1], now, member)
    else
      redis.call('ZREM', KEYS[1], member)
    end
    if not dry then rule.mend(id) end
  else
    redis.call('ZREM', KEYS[1], member)
  end
end

-- A living native worker would have taken the next job, or be busy with another.
local function mendCounts()
  local line = Keys.line(lane)
  local present = Native.idleSign(lane)
  -- A count below zero needs no second look.
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
  local _, behindNodes = Native.nativeWorkers(lane)
  redis.call('DEL', line)
  redis.call('SET', Keys.of('count', lane), behindNodes)
  return true
end

local freed = mendsAll and mendCounts()
Places.enterLine(act, back, true)
Places.endAct(act)
if #back == 0 and freed then redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('wake', lane, 1)) end
return found
