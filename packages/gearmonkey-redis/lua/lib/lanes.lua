-- Consumers are given jobs of a lane that is open for good, or that no by-name worker serves. Needs keys.lua.
local function isOpenLane(lane)
  local meta = redis.call('HMGET', metaKey(lane), 'open', 'consumers')
  if meta[1] then return true end
  return countedWorkers(lane) - tonumber(meta[2] or 0) <= 0
end
