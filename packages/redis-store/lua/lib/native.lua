-- Work of native programs that no node saw.
local maxCandidates = 10000
local forgetAfterSeconds = 14 * 24 * 3600

-- True for another door's job that a native worker finished and nobody settled. `known`: its door, token, settled and
-- status, where they were read.
function Native.isUnsettled(lane, id, known)
  local v = known or Keys.jobFields(lane, id, 'door', 'token', 'settled', 'status')
  return Fields.doorIn(v[1]) and not v[2] and not v[3] and (v[4] == 'success' or v[4] == 'error')
end

-- Completes a native worker's outcome. One that died in between left a result without an expiry, of which no client
-- knows, or a lock. A slow one set an expiry on a job of another door that was requeued or given up meanwhile.
function Native.mendTime(lane, id, v)
  local key = Keys.job(lane, id)
  local isOver = v[4] == 'success' or v[4] == 'error'
  local door = Fields.doorIn(v[1])
  if isOver and not door and not v[2] and not v[3] then
    if redis.call('EXPIRE', key, JobEnds.nativeRetention, 'NX') == 1 then
      redis.call('PUBLISH', Keys.channelOf(lane), 'finish:' .. id)
      Jobs.releaseLock(lane, id)
    end
    redis.call('EXPIRE', Keys.of('lock', lane) .. ':' .. id, Jobs.lockSeconds, 'NX')
  elseif door and (v[4] == 'idle' or v[4] == 'busy' or redis.call('ZSCORE', Keys.dead(lane), id)) then
    redis.call('PERSIST', key)
  end
end

-- Notes a possible orphan with the time of the first look, while there is room.
function Native.addCandidate(lane, member, now)
  local key = Keys.repairCandidates(lane)
  if redis.call('ZCARD', key) < maxCandidates then redis.call('ZADD', key, 'NX', now, member) end
  redis.call('EXPIRE', key, forgetAfterSeconds)
end

-- Members of the set of candidates. A job with a sign of life, or queued again, becomes another member.
function Native.busyCandidate(id, dividend, divisor)
  return 'b' .. id .. ' ' .. (dividend or '') .. '/' .. (divisor or '')
end

function Native.strayCandidate(id, enqueued) return 'i' .. id .. ' ' .. (enqueued or '') end

-- Workers counted for a lane that are behind no node; below 0 if more left than came.
function Native.nativeWorkers(lane)
  local behindNodes, pairs = 0, redis.call('HGETALL', Keys.meta(lane))
  for at = 1, #pairs, 2 do
    local prefix = string.sub(pairs[at], 1, 2)
    if prefix == 'n:' or prefix == 'c:' then behindNodes = behindNodes + tonumber(pairs[at + 1]) end
  end
  return Keys.countedWorkers(lane) - behindNodes, behindNodes
end

-- A sign that the workers of a lane do nothing: the next job in line, `less` where more left than came, nil for no
-- sign.
function Native.idleSign(lane)
  local workers = Native.nativeWorkers(lane)
  if workers < 0 then return 'less' end
  if workers == 0 then return nil end
  for _, band in ipairs(Keys.bands) do
    local id = redis.call('LINDEX', Keys.queue(lane, band), -1)
    if id then return id end
  end
end

-- Notes since when the sign has been the same.
function Native.watchLine(lane, now)
  local key, sign = Keys.line(lane), Native.idleSign(lane)
  if not sign then
    redis.call('DEL', key)
  elseif not redis.call('ZSCORE', key, sign) then
    redis.call('DEL', key)
    redis.call('ZADD', key, now, sign)
    redis.call('EXPIRE', key, forgetAfterSeconds)
  end
end
