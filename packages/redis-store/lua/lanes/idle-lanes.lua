-- Finds empty lanes: no jobs, workers or limits, and not closed by an operator. Of lanes empty for long enough, only
-- their openness and the range of their finished jobs stay, for 90 days.
-- KEYS:
--   1 xg:lane:{lane} of the first: hash
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 for how long: integer, ms
--   4 and more: lanes: strings
-- Returns the lanes to be removed.
--#include keys
local now, idleForMs, over = nowMs(), tonumber(ARGV[3]), {}
local keptForMs = 90 * 24 * 3600 * 1000

local function isUsed(lane, fields)
  -- stylua: ignore
  local places = redis.call('EXISTS', queueKey(lane, 'high'), queueKey(lane, 'normal'), queueKey(lane, 'low'),
    queueKey(lane, 'scheduled'), busyKey(lane), deadKey(lane), uniqueKey(lane), jidKey(lane), batchOutboxKey(lane))
  if places > 0 or fields.aside or fields.open == '0' or countedWorkers(lane) > 0 then return true end
  for name, value in pairs(fields) do
    if string.find(name, '^[nc]:') or (string.find(name, '^max:') and value ~= '0') then return true end
  end
  return false
end

-- True if nothing has come since the first check that found the lane empty, by its last id.
local function isIdleLongEnough(lane, fields)
  local last = redis.pcall('GET', laneKey('uid', lane))
  local id = type(last) == 'string' and last or ''
  local since, seen = string.match(fields.idle or '', '^(%d+) (.*)$')
  if idleForMs == 0 or (since and seen == id and now - tonumber(since) >= idleForMs) then return true end
  if not since or seen ~= id then redis.call('HSET', metaKey(lane), 'idle', integer(now) .. ' ' .. id) end
  return false
end

local function giveBack(lane, fields)
  local meta, closed = metaKey(lane), tonumber(fields.closed or 0)
  redis.call('DEL', meta)
  if closed > now then redis.call('HSET', meta, 'closed', integer(closed)) end
  if fields.open then redis.call('HSET', meta, 'open', fields.open) end
  if fields.cleared then redis.call('HSET', meta, 'cleared', fields.cleared) end
  redis.call('PEXPIREAT', meta, integer(now + keptForMs))
  over[#over + 1] = lane
end

for at = 4, #ARGV do
  local lane, fields = ARGV[at], {}
  local stored = redis.call('HGETALL', metaKey(lane))
  for index = 1, #stored, 2 do
    fields[stored[index]] = stored[index + 1]
  end
  if isUsed(lane, fields) then
    if fields.idle then redis.call('HDEL', metaKey(lane), 'idle') end
  elseif isIdleLongEnough(lane, fields) then
    giveBack(lane, fields)
  end
end
return over
