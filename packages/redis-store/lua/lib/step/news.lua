-- Tells listeners of the jobs of a step.

-- A step begins anew. `ownLanes`: lanes that this node listens to, absent if each event must be published: in a cluster and with replicas
-- the server does not know all listeners. `heard`: the answers of listenersOf by lane. `busyLanes`: those with outcomes or
-- submissions. `patterns`: how many have listeners. `left`: jobs that stand in line in lanes of which other gateways hear, by lane.
function News.begin()
  News.ownLanes, News.heard, News.busyLanes, News.patterns, News.left = nil, {}, {}, nil, {}
end

-- Lanes of one question.
local maxAsked = 256

-- Asks for several lanes at once: in a step with jobs of 30 lanes that is one call, not 30.
local function askHearers(lanes)
  local channels = { Keys.nodeChannel(Step.node), Keys.newsChannel() }
  for _, lane in ipairs(lanes) do
    channels[#channels + 1], channels[#channels + 2] = Keys.channelOf(lane), Keys.newsChannel(lane)
  end
  News.patterns = News.patterns or redis.call('PUBSUB', 'NUMPAT')
  local counts = redis.call('PUBSUB', 'NUMSUB', unpack(channels))
  local isHere, all = counts[2] > 0, counts[4]
  for at, lane in ipairs(lanes) do
    local each, once = counts[4 * at + 2], counts[4 * at + 4]
    -- The node's own connection may be gone, and another's be counted in its place.
    local own = News.ownLanes[lane] and isHere and 1 or 0
    -- A gateway takes both channels of a lane by one command, and equal patterns count once.
    News.heard[lane] = (each > once or News.patterns > math.min(all, 1)) and 'each' or once + all > own and 'once'
  end
end

-- Returns who hears of a lane: `each` if native programs may, which are told of each event of a job; `once` if only other
-- gateways do, which are told of new jobs at the end of a step; false if nobody does. With nothing published, Redis takes
-- 7 % fewer instructions for a Gearman job in a step with 16 of each kind, and 4 % fewer for a Faktory job.
function News.listenersOf(lane)
  if not News.ownLanes then return 'each' end
  if News.heard[lane] == nil then
    local unheard = { lane }
    for other in pairs(News.busyLanes) do
      if other ~= lane and News.heard[other] == nil and #unheard < maxAsked then unheard[#unheard + 1] = other end
    end
    askHearers(unheard)
  end
  return News.heard[lane]
end

-- A job stands in line, or has been taken from there.
function News.countLeft(lane, change)
  if News.listenersOf(lane) == 'once' then News.left[lane] = (News.left[lane] or 0) + change end
end

function News.tellNews()
  for lane, jobs in pairs(News.left) do
    if jobs > 0 then
      local message = Keys.framed(lane, jobs, Step.node)
      redis.call('PUBLISH', Keys.newsChannel(lane), message)
      redis.call('PUBLISH', Keys.newsChannel(), message)
    end
  end
end
