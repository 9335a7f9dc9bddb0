-- Sets how many workers behind a node lanes have, and keeps count:{lane} true by the difference. By-name workers close
-- the lane to consumers from then on, and for a time after the last of them. Not in a cluster: makes the node known.
-- KEYS:
--   1 count:{lane} of the first: string
-- ARGV:
--   3 node: string
--   4 how long by-name workers close a lane: integer, ms
--   5 and more, per lane:
--     lane: string
--     by-name workers, consumers, those of them with the function's label: three integers
--     1 if by-name workers of the function are in other lanes: flag
--     queue (its hint index, empty for none): string
-- Returns { lane, why } flat of those that are refused; the others are set all the same.
local node, graceMs, now, refused = ARGV[3], tonumber(ARGV[4]), Keys.nowMs(), {}

local function setWorkers(lane, named, consumers, labelled, elsewhere, queue)
  local meta = Keys.meta(lane)
  local before = redis.call('HMGET', meta, 'n:' .. node, 'c:' .. node, 'consumers', 'closed', 'l:' .. node, 'open')
  local namedBefore, consumersBefore = tonumber(before[1] or 0), tonumber(before[2] or 0)
  local change = named - namedBefore + consumers - consumersBefore
  -- First, since it is refused if another program has put another type there.
  if change ~= 0 then redis.call('INCRBY', Keys.of('count', lane), change) end
  local closed, changed = tonumber(before[4] or 0), {}
  if named > 0 or namedBefore > 0 or elsewhere == '1' then
    local anew = Lanes.closedAnew(closed, graceMs, now, true)
    if anew then changed = { 'closed', anew } end
  end
  if named > 0 and named ~= namedBefore then
    changed[#changed + 1], changed[#changed + 2] = 'n:' .. node, named
  end
  if #changed > 0 then redis.call('HSET', meta, unpack(changed)) end
  if named == 0 and namedBefore > 0 then redis.call('HDEL', meta, 'n:' .. node) end
  if consumers ~= consumersBefore then
    local all = Keys.integer((tonumber(before[3]) or 0) + consumers - consumersBefore)
    if consumers > 0 then
      redis.call('HSET', meta, 'c:' .. node, consumers, 'consumers', all)
    else
      redis.call('HDEL', meta, 'c:' .. node)
      redis.call('HSET', meta, 'consumers', all)
    end
  end
  local labelledBefore = tonumber(before[5] or 0)
  if labelled ~= labelledBefore then
    redis.call('HSET', meta, 'l:' .. node, labelled)
    redis.call('HINCRBY', meta, 'labelled', labelled - labelledBefore)
    if labelled == 0 then redis.call('HDEL', meta, 'l:' .. node) end
  end
  if named > 0 then
    Bridged.takeBackBridged(lane, queue, now, 1000)
    -- Spares a claim by the queue's index finding out that the lane is closed; one that was closed before is not there.
    if queue ~= '' and before[6] ~= '1' and closed <= now then redis.call('ZREM', Keys.ready(queue), lane) end
  end
  if named == 0 and namedBefore > 0 then
    Levels.hintReady(queue, lane, now)
    local queued = redis.call('LLEN', Keys.queue(lane, 'high'))
      + redis.call('LLEN', Keys.queue(lane, 'normal'))
      + redis.call('LLEN', Keys.queue(lane, 'low'))
    if queued > 0 then redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('wake', lane, queued)) end
  end
end

if not Keys.isCluster then Nodes.rejoin(node) end
for at = 5, #ARGV, 6 do
  local lane = ARGV[at]
  local named, consumers, labelled = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local isSound, problem = pcall(setWorkers, lane, named, consumers, labelled, ARGV[at + 4], ARGV[at + 5])
  if not isSound then
    refused[#refused + 1] = lane
    refused[#refused + 1] = problem.err or problem
  end
end
return refused
