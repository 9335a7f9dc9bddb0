-- The next jobs in the queues of the lane asked for last, read once. Needs levels.lua.
local headsLane, heads
local function nextIn(lane, band)
  if lane ~= headsLane then
    headsLane, heads = lane, {}
  end
  if heads[band] == nil then
    local id = redis.pcall('LINDEX', queueKey(lane, band), -1)
    heads[band] = false
    if type(id) == 'string' then
      local v = jobFields(lane, id, 'level', 'enqueued')
      heads[band] = { id = id, level = v[1] and levelIn(v[1]) or usual[band], enqueued = read.time(v[2]) }
    end
  end
  return heads[band]
end

-- True if a job is the next one of a queue or behind it. Queues keep the order of arrival, by level and time, or by id
-- if no gateway queued one.
local function standsBehind(head, id, level, enqueued)
  if not head then return false end
  if head.enqueued and enqueued then
    if head.level ~= level then return head.level > level end
    if head.enqueued ~= enqueued then return head.enqueued < enqueued end
  end
  return (tonumber(head.id) or 0) <= (tonumber(id) or 0)
end

-- True if a job can be among those outside a list, which keep their order too.
local function waitsAside(lane, id, level, enqueued)
  local first = redis.call('LINDEX', levelKey(lane, level), -1)
  if not first then return false end
  local since = read.time(jobFields(lane, first, 'enqueued')[1])
  return standsBehind({ id = first, level = level, enqueued = since }, id, level, enqueued)
end

-- True if an idle job can be in a queue; false if it was taken out, or never in one.
local function seemsQueued(lane, id, levelText, enqueuedText)
  local enqueued = read.time(enqueuedText)
  if enqueued then
    local level = levelIn(levelText)
    return standsBehind(nextIn(lane, bandOf(level)), id, level, enqueued) or waitsAside(lane, id, level, enqueued)
  end
  for _, band in ipairs(bands) do
    if standsBehind(nextIn(lane, band), id) then return true end
  end
  return false
end
