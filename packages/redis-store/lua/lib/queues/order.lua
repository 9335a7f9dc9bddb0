-- The next jobs in the queues of the lane asked for last, read once.
local headsLane, heads

function Order.begin() headsLane = nil end

local function nextIn(lane, band)
  if lane ~= headsLane then
    headsLane, heads = lane, {}
  end
  if heads[band] == nil then
    local id = redis.pcall('LINDEX', Keys.queue(lane, band), -1)
    heads[band] = false
    if type(id) == 'string' then
      local v = Keys.jobFields(lane, id, 'level', 'enqueued')
      heads[band] = { id = id, level = v[1] and Bands.levelIn(v[1]) or Bands.usual[band], enqueued = Fields.time(v[2]) }
    end
  end
  return heads[band]
end

-- True if a job is the next one of a queue or behind it. Queues keep the order of arrival, by level and time, or by id
-- if no gateway queued one.
function Order.standsBehind(head, id, level, enqueued)
  if not head then return false end
  if head.enqueued and enqueued then
    if head.level ~= level then return head.level > level end
    if head.enqueued ~= enqueued then return head.enqueued < enqueued end
  end
  return (tonumber(head.id) or 0) <= (tonumber(id) or 0)
end

-- True if a job can be among those outside a list, which keep their order too.
local function waitsAside(lane, id, level, enqueued)
  local first = redis.call('LINDEX', Keys.level(lane, level), -1)
  if not first then return false end
  local since = Fields.time(Keys.jobFields(lane, first, 'enqueued')[1])
  return Order.standsBehind({ id = first, level = level, enqueued = since }, id, level, enqueued)
end

-- True if an idle job can be in a queue; false if it was taken out, or never in one.
function Order.seemsQueued(lane, id, levelText, enqueuedText)
  local enqueued = Fields.time(enqueuedText)
  if enqueued then
    local level = Bands.levelIn(levelText)
    return Order.standsBehind(nextIn(lane, Bands.bandOf(level)), id, level, enqueued)
      or waitsAside(lane, id, level, enqueued)
  end
  for _, band in ipairs(Keys.bands) do
    if Order.standsBehind(nextIn(lane, band), id) then return true end
  end
  return false
end
