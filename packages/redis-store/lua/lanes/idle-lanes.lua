-- Forgets empty lanes: no jobs, by-name workers, labelled consumers or limits, and not closed by an operator. Of lanes
-- empty for long enough, what registry.lua says stays for a while.
-- KEYS:
--   1 xg:lane:{lane} of the first: hash
-- ARGV:
--   3 for how long, if it never had a job: integer, ms
--   4 the same, if it had: integer, ms
--   5 the same, if an operator or a route wants it, or native clients count its consumers: integer, ms
--   6 and more: lanes, each in a cluster with its number in the registry: strings
-- Returns per forgotten lane its name and number; in a cluster then how long what it left stays (ms) and its counters.
local now, unusedMs, emptiedMs, keptMs, over = Keys.nowMs(), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), {}

local function isUsed(lane, fields)
  if fields.open == '0' or not Registry.isEmptyLane(lane, fields.aside) then return true end
  if Lanes.namedWorkers(lane, fields.consumers) > 0 or tonumber(fields.labelled or 0) > 0 then return true end
  for name, value in pairs(fields) do
    if string.find(name, '^n:') or (string.find(name, '^max:') and value ~= '0') then return true end
  end
  return false
end

local function idleMsOf(fields, id)
  if fields.kept or (fields.seen and tonumber(fields.consumers or 0) > 0) then return keptMs end
  return id == '' and unusedMs or emptiedMs
end

-- True if nothing has come since the first check that found the lane empty, by its last id.
local function isIdleLongEnough(lane, fields)
  local last = redis.pcall('GET', Keys.of('uid', lane))
  local id = type(last) == 'string' and last or ''
  local idleForMs = idleMsOf(fields, id)
  local since, seen = string.match(fields.idle or '', '^(%d+) (.*)$')
  if idleForMs == 0 or (since and seen == id and now - tonumber(since) >= idleForMs) then return true end
  if not since or seen ~= id then redis.call('HSET', Keys.meta(lane), 'idle', Keys.integer(now) .. ' ' .. id) end
  return false
end

local function forget(lane, fields, number)
  if not Keys.isCluster then
    over[#over + 1] = { lane, Keys.integer(Registry.unregisterLane(lane, fields, now) or 0) }
    return
  end
  fields.number = fields.number or number
  local gone, untilMs, totals = Registry.forgetLane(lane, fields, now)
  over[#over + 1] = { lane, Keys.integer(gone), Keys.integer(untilMs), unpack(totals) }
end

for at = 6, #ARGV, Keys.isCluster and 2 or 1 do
  local lane = ARGV[at]
  local fields = Registry.allFields(lane)
  if isUsed(lane, fields) then
    if fields.idle then redis.call('HDEL', Keys.meta(lane), 'idle') end
  elseif isIdleLongEnough(lane, fields) then
    forget(lane, fields, ARGV[at + 1])
  end
end
return over
