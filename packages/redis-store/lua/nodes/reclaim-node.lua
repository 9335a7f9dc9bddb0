-- Forgets a node that is gone, in one lane: requeues jobs of its by-name workers and those that it prefetched for
-- consumers, removes its worker counts and its waiting clients. A foreground job without other waiters will not run; the
-- outcomes of others are kept for a minute where the node died, since it may live after all. Walks the lane in pieces.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 queue (its hint index, empty for none): string
--   6 1 if the node died (its jobs have lost a worker): flag
--   7 most losses (0: no limit): integer
--   8 how long by-name workers close the lane to consumers: integer, ms
--   9 failure JSON of a job that has the most losses (empty: not kept): string
--   10 dead set's most: integer
--   11 dead seconds: integer, seconds
--   12 place (1 for the first): integer
--   13 cursor in it (0 for its start): integer
-- Returns { jobs put back, next place (0: that was all), cursor in it, flat per lease of a consumer: id, token, door, what was
-- refused (empty for nothing), flat per job that ended: lane, id, door, how (expired, lost, died) }.
local lane, node, isDeath, maxLosses = ARGV[3], ARGV[4], ARGV[6] == '1', tonumber(ARGV[7])
local now, back, left, mine = Keys.nowMs(), {}, 500, ARGV[4] .. '-'
-- Leases with half a millisecond in their deadline: no consumer is known to have the job.
local heldAhead = {}
local act = Places.actOn(lane, ARGV[5], now)
local piece, graceMs, failure = left, tonumber(ARGV[8]), ARGV[9]
local consumed, dropped, problem = {}, {}, ''

-- Each place is read by a function from cursor to ids and the next cursor, nil for the end.
local function ofSet(key)
  return function(cursor)
    local page, ids = redis.pcall('ZSCAN', key, cursor, 'COUNT', piece), {}
    if page.err then return ids end
    for at = 1, #page[2], 2 do
      ids[#ids + 1] = page[2][at]
      heldAhead[page[2][at]] = key == KEYS[1] and tonumber(page[2][at + 1]) % 1 ~= 0
    end
    if page[1] ~= '0' then return ids, page[1] end
    return ids
  end
end

-- First the jobs that are next, then all from the other end, where they only move away from what has been read.
local function ofList(key)
  return function(cursor)
    local from = (tonumber(cursor) - 1) * piece
    local ids = redis.pcall('LRANGE', key, from, from < 0 and -1 or from + piece - 1)
    if ids.err then return {} end
    if #ids == piece then return ids, Keys.integer(tonumber(cursor) + 1) end
    return ids
  end
end

-- Jobs outside the lists come first: they move into them.
local places = {
  ofSet(KEYS[1]),
  ofList(Keys.level(lane, 9)),
  ofList(Keys.level(lane, 7)),
  ofList(Keys.level(lane, 6)),
  ofList(Keys.level(lane, 4)),
  ofList(Keys.level(lane, 3)),
  ofList(Keys.level(lane, 1)),
  ofList(Keys.queue(lane, 'high')),
  ofList(Keys.queue(lane, 'normal')),
  ofList(Keys.queue(lane, 'low')),
  ofSet(Keys.queue(lane, 'scheduled')),
}

local function bury(job)
  redis.call('HSET', Keys.job(lane, job.id), 'output', '', 'failure', failure)
  Dead.buryJob(lane, job, '', now, tonumber(ARGV[10]), tonumber(ARGV[11]), 'died')
end

local function putBack(id, waiting)
  Keys.assertQueueTypes(lane)
  local key, job = Keys.job(lane, id), Places.readPlaced(act, id)
  -- Nobody is left out: the node that does this has clients, too.
  job.waiting = waiting
  Places.leftLease(act, job)
  local ending = Losses.endsWithWorker(lane, id, waiting, isDeath, maxLosses)
  if ending then
    if failure ~= '' and not Fields.isForeground(job.door, job.fg, waiting) then
      bury(job)
      ending = 'died'
    else
      Jobs.finishJob(lane, job, '', 'error', '')
      Books.book(lane, ending, 1)
    end
    for _, word in ipairs({ lane, id, Fields.doorIn(job.door) or 'native', ending }) do
      dropped[#dropped + 1] = word
    end
    return
  end
  redis.call('HSET', key, 'status', 'idle')
  Arrival.lineUp(key, Keys.nowUs())
  redis.call('HDEL', key, 'token', 'settled', 'status:dividend', 'status:divisor')
  back[#back + 1] = { id, job.level }
end

local function isMine(token) return string.sub(token, 2, 1 + #mine) == mine end

local function endsWithNode(id, token)
  if not isMine(token) then return false end
  return string.sub(token, 1, 1) == 'n' or heldAhead[id]
end

local function forget(id)
  local v = Keys.jobFields(lane, id, 'wait', 'token', 'keep', 'fg', 'door')
  local waiting = Fields.wait(v[1])
  if waiting and string.find(waiting, node, 1, true) then
    local left = Waits.withoutNode(waiting, node)
    -- A node that was only cut off asks for the outcome when it is back.
    local goesOn = left or v[4] ~= '1' or (v[2] and not endsWithNode(id, v[2]))
    if isDeath and goesOn and (Fields.whole(v[3]) or 0) < JobEnds.relaySeconds then
      redis.call('HSET', Keys.job(lane, id), 'keep', JobEnds.relaySeconds)
    end
    waiting = left or ''
    redis.call('HSET', Keys.job(lane, id), 'wait', waiting)
  end
  if not v[2] or not isMine(v[2]) then return end
  if endsWithNode(id, v[2]) then return putBack(id, waiting) end
  for _, part in ipairs({ id, v[2], v[5] or 'native' }) do
    consumed[#consumed + 1] = part
  end
end

local place, cursor = tonumber(ARGV[12]), ARGV[13]
if place == 1 and cursor == '0' then
  local meta = Keys.meta(lane)
  local counts = redis.call('HMGET', meta, 'n:' .. node, 'c:' .. node, 'l:' .. node)
  local named, consumers = tonumber(counts[1] or 0), tonumber(counts[2] or 0)
  if named + consumers > 0 then
    redis.call('HDEL', meta, 'n:' .. node, 'c:' .. node, 'l:' .. node)
    redis.pcall('INCRBY', Keys.of('count', lane), -(named + consumers))
    if consumers > 0 then redis.call('HINCRBY', meta, 'consumers', -consumers) end
    if counts[3] then redis.call('HINCRBY', meta, 'labelled', -tonumber(counts[3])) end
    if named > 0 then Lanes.noteNamedWorkers(lane, redis.call('HGET', meta, 'closed'), graceMs, now, true) end
  end
end
while place <= #places and left > 0 do
  local ids, following = places[place](cursor)
  for _, id in ipairs(ids) do
    local isSound, error = pcall(forget, id)
    if not isSound then problem = error.err or error end
  end
  left = left - #ids - 1
  cursor = following or '0'
  if not following then place = place + 1 end
end
Places.enterLine(act, back, true)
Places.endAct(act)
return { #back, place <= #places and place or 0, cursor, consumed, problem, dropped }
