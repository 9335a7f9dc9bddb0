-- Takes idle jobs out of the lists of their lane, wherever they stand, in bounded time. A list drops an entry by
-- counting up to it from an end. Too far from both ends a job of the same level, from up to `stride` places behind, moves
-- into the gap, and so on, until the gap is near the back: nobody waits longer, and nothing is there twice. A call makes
-- few such moves; then the job itself stands in the gap, and the next call goes on.

-- Entries that are counted at most, under 1 ms of the server's time; entries that one piece of a search reads.
local reach, entriesPerSearch = 12000, 5000
local stride = 2048
-- Jobs that one call looks at for its moves, some 20 us of the server's time each in a list of 1,000,000.
local maxMoves = 40
-- Stands for a job until its gap is closed, within the same call; no id looks so.
local gap = '-'

-- The removals of one call. `work`: what they cost so far, about in microseconds.
function Removal.removalFrom(lane) return { lane = lane, gaps = {}, levels = {}, near = {}, work = 0, moves = maxMoves } end

-- The lists in which an idle job can stand.
local function listsFor(lane, levelText)
  local lists = {}
  for at, band in ipairs(Keys.bands) do
    lists[at] = { number = at, key = Keys.queue(lane, band), level = Bands.usual[band] }
  end
  if levelText and Aside.countAside(lane) > 0 then
    local level = Bands.levelIn(levelText)
    lists[4] = { number = 4, key = Keys.level(lane, level), level = level, isAside = true }
  end
  return lists
end

local function indexWithin(key, id, first, last)
  for at, other in ipairs(redis.call('LRANGE', key, first, last)) do
    if other == id then return first + at - 1 end
  end
end

-- The index of a job that was left there a moment ago: jobs may have come behind it since. To read many entries costs
-- more than all moves of a call.
local function indexNear(key, id, index)
  if redis.call('LINDEX', key, index) == id then return index end
  local near = index + 192
  return indexWithin(key, id, math.max(0, index - 64), near) or indexWithin(key, id, near + 1, index + stride)
end

-- The index of a job from the back of a list, if the list has it where it came in.
local function indexByArrival(removal, list, id, levelText, enqueued)
  local key = list.key
  local length = redis.call('LLEN', key)
  if length == 0 then return nil end
  -- Jobs are mostly taken out one behind the other.
  local near = removal.near[key] or length - 1
  if redis.call('LINDEX', key, near) == id then return near end
  removal.work = removal.work + 100
  local level = levelText and Bands.levelIn(levelText) or list.level
  -- Counted from the front.
  local first, last = 0, length - 1
  while last - first > 256 do
    local middle = math.floor((first + last) / 2)
    local other = redis.call('LINDEX', key, -1 - middle)
    -- One call makes at most 100 gaps.
    while other == gap do
      middle = middle - 1
      other = redis.call('LINDEX', key, -1 - middle)
    end
    local job = Keys.jobFields(removal.lane, other, 'level', 'enqueued')
    local head = { id = other, level = job[1] and Bands.levelIn(job[1]) or list.level, enqueued = Fields.time(job[2]) }
    if Order.standsBehind(head, id, level, enqueued) then
      first = middle
    else
      last = middle
    end
  end
  local from, to = length - 1 - last, length - 1 - first
  local index = indexWithin(key, id, math.max(0, from - 32), to + 32)
  if index then return index end
  -- Gaps that were closed before have changed places thereabouts.
  removal.work = removal.work + 1000
  return indexWithin(key, id, math.max(0, from - 2 * stride), to + 2 * stride)
end

-- Finds an idle job. `cursor`: empty at first, else how far a search has come for a job that is not where it came in, or
-- where takeOut has left it. Returns its list and index; nil and the next cursor; or nil for a job in no list.
function Removal.findQueued(removal, id, levelText, enqueuedText, cursor)
  local lists, enqueued = listsFor(removal.lane, levelText), Fields.time(enqueuedText)
  local leftIn, leftAt = string.match(cursor, '^at (%d+):(%d+)$')
  local left = lists[tonumber(leftIn)]
  local index = left and indexNear(left.key, id, tonumber(leftAt))
  if index then return left, index end
  if cursor == '' or leftIn then
    for _, list in ipairs(lists) do
      index = indexByArrival(removal, list, id, levelText, enqueued)
      if index then return list, index end
    end
  end
  -- From the back: jobs that come meanwhile move the others away from the part that was searched.
  local number, first = string.match(cursor, '^(%d+):(%d+)$')
  number, first = tonumber(number or 1), tonumber(first or 0)
  local room = entriesPerSearch
  while lists[number] and room > 0 do
    local list = lists[number]
    index = indexWithin(list.key, id, first, first + room - 1)
    if index then return list, index end
    local length = redis.call('LLEN', list.key)
    if first + room < length then
      first, room = first + room, 0
    else
      number, first, room = number + 1, 0, room - math.max(0, length - first)
    end
  end
  removal.work = removal.work + 500
  return nil, lists[number] and number .. ':' .. first or nil
end

-- Moves the gap of a job towards the back. Returns its last index, and when the job came that stood there.
local function moveGap(removal, key, index, levelText, usualLevel)
  local level, enqueued = levelText and Bands.levelIn(levelText) or usualLevel, nil
  while index >= reach and removal.moves > 0 do
    local step = stride
    local id = redis.call('LINDEX', key, index - step)
    local fields = Keys.jobFields(removal.lane, id, 'level', 'enqueued')
    while step > 1 and (id == gap or (fields[1] and Bands.levelIn(fields[1]) or usualLevel) ~= level) do
      step, removal.moves = math.floor(step / 2), removal.moves - 1
      id = redis.call('LINDEX', key, index - step)
      fields = Keys.jobFields(removal.lane, id, 'level', 'enqueued')
    end
    redis.call('LSET', key, index, id)
    level, enqueued = fields[1] and Bands.levelIn(fields[1]) or usualLevel, fields[2]
    index, removal.work, removal.moves = index - step, removal.work + 20, removal.moves - 1
  end
  return index, enqueued
end

-- Takes a job ({ id, level, enqueued }, as in its hash) out of the place that findQueued has found; or returns where it
-- stands in line now, for findQueued.
function Removal.takeOut(removal, list, index, job)
  local key = list.key
  local fromFront = redis.call('LLEN', key) - 1 - index
  removal.near[key] = math.max(0, index - 1)
  local gaps = removal.gaps[key] or { front = 0, back = 0 }
  removal.gaps[key] = gaps
  if fromFront < reach and fromFront <= index then
    gaps.front = gaps.front + 1
  else
    local enqueued
    index, enqueued = moveGap(removal, key, index, job.level, list.level)
    if index >= reach then
      redis.call('LSET', key, index, job.id)
      -- A job is looked for where its time says that it came in.
      if job.enqueued and enqueued then redis.call('HSET', Keys.job(removal.lane, job.id), 'enqueued', enqueued) end
      return 'at ' .. list.number .. ':' .. index
    end
    gaps.back = gaps.back + 1
  end
  redis.call('LSET', key, index, gap)
  if list.isAside then
    Aside.changeAside(removal.lane, -1)
  elseif job.level then
    removal.levels[#removal.levels + 1] = job.level
  end
end

-- Closes the gaps of a call: those near the front stand before those near the back.
function Removal.closeGaps(removal)
  for key, gaps in pairs(removal.gaps) do
    if gaps.front > 0 then redis.call('LREM', key, -gaps.front, gap) end
    if gaps.back > 0 then redis.call('LREM', key, gaps.back, gap) end
  end
  for _, level in ipairs(removal.levels) do
    Places.leftLevel(removal.lane, level)
  end
end
