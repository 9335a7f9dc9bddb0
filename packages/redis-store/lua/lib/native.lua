-- Work of native programs that no node saw. Needs keys.lua.
local maxCandidates = 10000
local forgetAfterSeconds = 14 * 24 * 3600

-- True for another door's job that a native worker finished and nobody settled. `known`: its door, token, settled and
-- status, where they were read.
local function isUnsettled(lane, id, known)
  local v = known or jobFields(lane, id, 'door', 'token', 'settled', 'status')
  return doorIn(v[1]) and not v[2] and not v[3] and (v[4] == 'success' or v[4] == 'error')
end

-- Completes a native worker's outcome. One that died in between left a result without an expiry, of which no client
-- knows, or a lock. A slow one set an expiry on a job of another door that was requeued or given up meanwhile. Needs
-- jobs.lua.
local function mendTime(lane, id, v)
  local key = jobKey(lane, id)
  local isOver = v[4] == 'success' or v[4] == 'error'
  local door = doorIn(v[1])
  if isOver and not door and not v[2] and not v[3] then
    if redis.call('EXPIRE', key, nativeRetention, 'NX') == 1 then
      redis.call('PUBLISH', channelOf(lane), 'finish:' .. id)
      releaseLock(lane, id)
    end
    redis.call('EXPIRE', laneKey('lock', lane) .. ':' .. id, lockSeconds, 'NX')
  elseif door and (v[4] == 'idle' or v[4] == 'busy' or redis.call('ZSCORE', deadKey(lane), id)) then
    redis.call('PERSIST', key)
  end
end

-- Notes a possible orphan with the time of the first look, while there is room.
local function addCandidate(lane, member, now)
  local key = repairCandidatesKey(lane)
  if redis.call('ZCARD', key) < maxCandidates then redis.call('ZADD', key, 'NX', now, member) end
  redis.call('EXPIRE', key, forgetAfterSeconds)
end

-- Members of the set of candidates. A job with a sign of life, or queued again, becomes another member.
local function busyCandidate(id, dividend, divisor)
  return 'b' .. id .. ' ' .. (dividend or '') .. '/' .. (divisor or '')
end

local function strayCandidate(id, enqueued) return 'i' .. id .. ' ' .. (enqueued or '') end

-- Workers counted for a lane that are behind no node; below 0 if more left than came.
local function nativeWorkers(lane)
  local behindNodes, pairs = 0, redis.call('HGETALL', metaKey(lane))
  for at = 1, #pairs, 2 do
    local prefix = string.sub(pairs[at], 1, 2)
    if prefix == 'n:' or prefix == 'c:' then behindNodes = behindNodes + tonumber(pairs[at + 1]) end
  end
  return countedWorkers(lane) - behindNodes, behindNodes
end

-- A sign that the workers of a lane do nothing: the next job in line, `less` where more left than came, nil for no
-- sign.
local function idleSign(lane)
  local workers = nativeWorkers(lane)
  if workers < 0 then return 'less' end
  if workers == 0 then return nil end
  for _, band in ipairs(bands) do
    local id = redis.call('LINDEX', queueKey(lane, band), -1)
    if id then return id end
  end
end

-- Notes since when the sign has been the same.
local function watchLine(lane, now)
  local key, sign = lineKey(lane), idleSign(lane)
  if not sign then
    redis.call('DEL', key)
  elseif not redis.call('ZSCORE', key, sign) then
    redis.call('DEL', key)
    redis.call('ZADD', key, now, sign)
    redis.call('EXPIRE', key, forgetAfterSeconds)
  end
end
