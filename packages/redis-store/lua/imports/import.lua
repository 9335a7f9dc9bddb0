-- Stores jobs of one lane that another system had, each once: the note of it is made in the same step.
-- KEYS: uid:{lane}. ARGV: open, close, packed: lane, queue (its hint index, empty for none), tag of the migration,
-- how long the notes are kept (s), dead jobs that a lane keeps, count, then per job: import id, digest, place (queue,
-- retry, dead), level, due (ms, empty for now; of a dead job: when it is forgotten), unique (empty for none), jid
-- (empty for none), place in the order of arrival (us; `-` for a native client's, which does not say), number of
-- field strings, the field strings.
-- Returns packed per job: its id; minus the id of the job that it joined; its note where it came before; `dead`
-- where the dead set is full; `notes` where too many are noted.
--#include keys
--#include levels
--#include packed
--#include imports
--#include jids
local given = unpackedArguments(3)
local lane, queue, tag, keptSeconds, mostDead, count = unpack(given, 1, 6)
local laneChannel, now = channelOf(lane), nowMs()
needQueues(lane)

local function joinable(unique)
  local id = redis.call('HGET', uniqueKey(lane), unique)
  local status = id and jobFields(lane, id, 'status')[1]
  return (status == 'idle' or status == 'busy') and id or nil
end

local touched = {}
local function note(importId, letter, digest, id)
  local key = importedKey(lane, importId)
  redis.call('HSET', key, importId, letter .. tag .. digest .. id)
  touched[key] = true
end

-- A job that its source gave away for good may come again: another one, of the same name.
local function known(importId)
  local noted = redis.call('HGET', importedKey(lane, importId), importId)
  return noted and string.sub(noted, 1, 1) ~= 'm' and noted or nil
end

local last = redis.call('INCRBY', KEYS[1], count)
local nextId, results, queued = last - count, {}, {}
local best, bestUs, earliestDue, at = 0, 0, nil, 7

local function place(id, where, level, due, arrived)
  if where == 'dead' then
    redis.call('ZADD', deadKey(lane), due, id)
  elseif where == 'retry' or (due ~= '' and due > now) then
    redis.call('ZADD', queueKey(lane, 'scheduled'), due / 1000, id)
    if where == 'retry' then redis.call('ZADD', retriesKey(lane), due, id) end
    if not earliestDue or due < earliestDue then earliestDue = due end
  else
    local ids = queued[level]
    if ids then ids[#ids + 1] = id else queued[level] = { id } end
    if level > best then best, bestUs = level, arrived == '-' and now * 1000 or arrived end
  end
end

local function storeJob(id, where, first, most, arrived, unique, jid)
  local key = jobKey(lane, id)
  redis.call('HSET', key, 'status', where == 'dead' and 'error' or 'idle', unpack(given, first, most))
  if arrived ~= '-' then redis.call('HSET', key, 'enqueued', stamp(arrived)) end
  if where == 'dead' then redis.call('HSET', key, 'settled', 1) end
  if unique ~= '' and where ~= 'dead' then redis.call('HSET', uniqueKey(lane), unique, id) end
  if jid ~= '' then noteJid(lane, id, jid) end
  if where ~= 'dead' then redis.call('PUBLISH', laneChannel, 'create:' .. id) end
end

for index = 1, count do
  local importId, digest, where, level, due, unique, jid, arrived, fields = unpack(given, at, at + 8)
  local first = at + 9
  at = first + fields
  local noted = known(importId)
  local joined = not noted and unique ~= '' and where ~= 'dead' and joinable(unique)
  if noted then
    results[index] = noted
  elseif redis.call('HLEN', importedKey(lane, importId)) >= mostNotes then
    results[index] = 'notes'
  elseif joined then
    note(importId, 'j', digest, joined)
    results[index] = -joined
  elseif where == 'dead' and redis.call('ZCARD', deadKey(lane)) >= mostDead then
    results[index] = 'dead'
  else
    nextId = nextId + 1
    local id = integer(nextId)
    storeJob(id, where, first, at - 1, arrived, unique, jid)
    place(id, where, level, due, arrived)
    note(importId, 'c', digest, id)
    results[index] = nextId
  end
end

for key in pairs(touched) do redis.call('EXPIRE', key, keptSeconds) end
if best > 0 then
  enqueueLevels(lane, queued)
  if queue ~= '' and openness(lane, now) then
    redis.call('ZADD', readyKey(queue), 'LT', rank(best, bestUs / 1000), lane)
  end
end
if earliestDue and not isCluster then redis.call('ZADD', dueKey, 'LT', earliestDue, lane) end
local created = nextId - (last - count)
if created < count then redis.call('DECRBY', KEYS[1], count - created) end
if created > 0 then redis.call('HINCRBY', metaKey(lane), 'submitted', created) end
return cmsgpack.pack(results)
