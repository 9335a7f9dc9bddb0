-- Stores jobs of one lane that another system had, each once: the note of it is made in the same step.
-- KEYS:
--   1 uid:{lane}: string
-- ARGV:
--   3 and more: one packed list (see packed.lua):
--     lane: string
--     queue (its hint index, empty for none): string
--     tag of the migration: bytes
--     how long the notes are kept: integer, seconds
--     first bytes of the import ids whose notes are kept that long from now on: bytes
--     most dead jobs of a lane: integer
--     1 if the server knows all listeners: flag
--     the store's epoch: integer
--     the limits of each value where jobs take turns (see turns.lua), empty for none: string
--     jobs: integer; per job:
--       import id: bytes
--       digest: bytes
--       place (0 queue, 1 retry, 2 dead): integer
--       level: integer
--       due (empty for now; of a dead job: when it is forgotten): integer, ms
--       unique (empty for none): bytes
--       jid (empty for none): string
--       place in the order of arrival (`-` for a native client's, which does not say): integer, us
--       door (empty for a native client's): string
--       payload: bytes
--       lock that keeps its doubles out (empty for none): bytes
--       until when it holds that: integer, ms
--       other field strings: integer, the strings
-- Returns -1 where the lane is to be registered first. Else packed, if all are created: the id of the first. Else a list, per job: its id; minus the id of the job that
-- it joined, also as the holder of its lock; its note if it came before; `dead` if the dead set is full; `notes` if too many are noted.
local given = Packed.unpackedArguments(ARGV, 3)
local lane, queue, tag, keptSeconds, renewed, maxDead, isSole, epoch, limits, count = unpack(given, 1, 10)
local firstJob, perJob = 11, 13
local now, toRetry, toDead = Keys.nowMs(), 1, 2
Keys.assertQueueTypes(lane)
local act = Places.actOn(lane, queue, now, limits)

-- True if there may be a listener: the server may know all listeners.
local function isHeard()
  if isSole == 0 or redis.call('PUBSUB', 'NUMPAT') > 0 then return true end
  return redis.call('PUBSUB', 'NUMSUB', Keys.channelOf(lane))[2] > 0
end

-- Queued and running jobs with the incoming unique ids.
local function joinable()
  local uniques, found, at = {}, {}, firstJob
  for _ = 1, count do
    if given[at + 5] ~= '' and given[at + 2] ~= toDead then uniques[#uniques + 1] = given[at + 5] end
    at = at + perJob + given[at + 12]
  end
  if #uniques == 0 then return found end
  for index, id in ipairs(redis.call('HMGET', Keys.unique(lane), unpack(uniques))) do
    local status = id and Keys.jobFields(lane, id, 'status')[1]
    if status == 'idle' or status == 'busy' then found[uniques[index]] = id end
  end
  return found
end

-- Import ids are digests, so all 256 hashes of notes are about equally long.
if redis.call('HEXISTS', Keys.meta(lane), 'number') == 0 then
  -- The lane was removed since the import began.
  if Keys.isCluster or not Registry.registerLane(lane, Registry.homeOf(lane, queue), 0) then return -1 end
end
local isNoted = redis.call('HLEN', Imports.importedKey(lane, given[firstJob])) >= Imports.maxNotes
local toldOn, joins = isHeard() and Keys.channelOf(lane), joinable()
local dead, deadCount = {}, nil
local last, problem = Ids.takeIdsOf(epoch, lane, count)
if not last then return redis.error_reply(problem) end
local first = last - count
local nextId, results, queued, scheduled, retries = first, {}, {}, {}, {}
local uniques, jids = {}, {}
local best, bestUs, earliestDue, at = 0, 0, nil, firstJob
-- Jobs of a lane where they take turns.
local entering = {}

-- Returns the refusal of a job without room.
local function refusal(where)
  if isNoted then return 'notes' end
  if where ~= toDead then return nil end
  deadCount = deadCount or redis.call('ZCARD', Keys.dead(lane))
  return deadCount + #dead / 2 >= maxDead and 'dead' or nil
end

-- Notes a job; returns its note if it has one. A job that its source gave away for good may come again: it is another
-- one of the same name.
local function note(importId, value)
  local key = Imports.importedKey(lane, importId)
  if redis.call('HSETNX', key, importId, value) == 1 then return nil end
  local noted = redis.call('HGET', key, importId)
  if string.sub(noted, 1, 1) ~= 'm' then return noted end
  redis.call('HSET', key, importId, value)
  return nil
end

local fields, size = {}, 0
local function add(name, value)
  fields[size + 1], fields[size + 2] = name, value
  size = size + 2
end

-- The lock of a job, until when it holds that (ms), and who has it now; nil where it has none any more.
local function lockOf(from)
  local lock, untilMs = given[from + 10], given[from + 11]
  if lock == '' or untilMs <= now then return nil end
  local key = Keys.uniqueLock(lane) .. ':' .. lock
  return key, untilMs, redis.call('GET', key) or nil
end

local function storeJob(id, from, others, isDead)
  local level, unique, jid, arrived, door, input = given[from + 3], unpack(given, from + 5, from + 9)
  size = 0
  add('status', isDead and 'error' or 'idle')
  add('input', input)
  if arrived ~= '-' then add('enqueued', Keys.stamp(arrived)) end
  if door ~= '' then add('door', door) end
  if level ~= 5 then add('level', level) end
  if unique ~= '' then add('unique', unique) end
  if jid ~= '' then add('jid', jid) end
  if isDead then add('settled', 1) end
  local lock, untilMs, holder = lockOf(from)
  if lock and not holder then
    add('once', given[from + 10])
    redis.call('SET', lock, id, 'PXAT', Keys.integer(untilMs))
  end
  for index = from + perJob, from + perJob + others - 1 do
    size = size + 1
    fields[size] = given[index]
  end
  redis.call('HSET', Keys.job(lane, id), unpack(fields, 1, size))
  if unique ~= '' and not isDead then
    uniques[#uniques + 1], uniques[#uniques + 2] = unique, id
    joins[unique] = id
  end
  if jid ~= '' then jids[#jids + 1] = { id, jid } end
  if toldOn and not isDead then redis.call('PUBLISH', toldOn, 'create:' .. id) end
end

local function place(id, where, level, due, arrived)
  if where == toDead then
    dead[#dead + 1], dead[#dead + 2] = due, id
  elseif where == toRetry or (due ~= '' and due > now) then
    scheduled[#scheduled + 1], scheduled[#scheduled + 2] = due / 1000, id
    if where == toRetry then
      retries[#retries + 1], retries[#retries + 2] = due, id
    end
    if not earliestDue or due < earliestDue then earliestDue = due end
  elseif act.limits then
    entering[#entering + 1] = { id, level }
  else
    local ids = queued[level]
    if ids then
      ids[#ids + 1] = id
    else
      queued[level] = { id }
    end
    if level > best then
      best, bestUs = level, arrived == '-' and now * 1000 or arrived
    end
  end
end

for index = 1, count do
  local importId, digest, where, level, due, unique = unpack(given, at, at + 5)
  local others = given[at + 12]
  local refused, joined = refusal(where), unique ~= '' and where ~= toDead and joins[unique] or nil
  if not joined and where ~= toDead then joined = select(3, lockOf(at)) end
  local id = joined or Keys.integer(nextId + 1)
  local noted
  if refused then
    noted = redis.call('HGET', Imports.importedKey(lane, importId), importId)
    if not noted or string.sub(noted, 1, 1) == 'm' then noted = refused end
  else
    noted = note(importId, (joined and 'j' or 'c') .. tag .. digest .. id)
  end
  if noted then
    results[index] = noted
  elseif joined then
    results[index] = -joined
  else
    nextId = nextId + 1
    storeJob(id, at, others, where == toDead)
    place(id, where, level, due, given[at + 7])
    results[index] = nextId
  end
  at = at + perJob + others
end

local function addAll(command, key, list)
  if #list > 0 then redis.call(command, key, unpack(list)) end
end
addAll('ZADD', Keys.dead(lane), dead)
addAll('ZADD', Keys.queue(lane, 'scheduled'), scheduled)
addAll('ZADD', Keys.retries(lane), retries)
addAll('HSET', Keys.unique(lane), uniques)
Jids.noteJids(lane, jids)
for byte = 1, #renewed do
  redis.call('EXPIRE', Imports.importedKey(lane, string.sub(renewed, byte, byte)), keptSeconds)
end
Places.enterLine(act, entering)
Places.endAct(act)
if best > 0 then
  Levels.enqueueLevels(lane, queued)
  if queue ~= '' and Lanes.openness(lane, now) then
    redis.call('ZADD', Keys.ready(queue), 'LT', Levels.rank(best, bestUs / 1000), lane)
  end
end
if earliestDue and not Keys.isCluster then redis.call('ZADD', Keys.due, 'LT', earliestDue, lane) end
local created = nextId - first
if created < count then redis.call('DECRBY', KEYS[1], count - created) end
Books.book(lane, 'submitted', created)
return cmsgpack.pack(created == count and first + 1 or results)
