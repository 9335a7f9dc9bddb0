-- Jobs that a script pushes itself: callbacks of batches, and jobs that tell of a death. Needs keys.lua.
--#include ids
--#include places
--#include jids
--#include books

-- True if a lane is registered, or is from now on.
local function isRegistered(lane, queue)
  if redis.call('HEXISTS', metaKey(lane), 'number') == 1 then return true end
  if isCluster then return false end
  --#include registry
  return registerLane(lane, homeOf(lane, queue), 0) ~= nil
end

-- The store's epoch as its nodes have noted it. In a cluster it is in another slot.
local function storedEpoch() return tonumber(redis.pcall('ZREVRANGE', broker .. ':epochs', 0, 0, 'WITHSCORES')[2] or 0) end

-- Stores a job; false and why if there is no id for it. `epoch`: the store's. `words` from `first` on: queue (its hint
-- index, empty for none), level, jid, fields and values of its hash.
local function storePushed(lane, epoch, words, first)
  local queue, level, jid, now = words[first], tonumber(words[first + 1]), words[first + 2], nowMs()
  local last, problem = takeIdsOf(epoch, lane, 1)
  if not last then return false, problem end
  local id = integer(last)
  redis.call('HSET', jobKey(lane, id), 'status', 'idle', 'enqueued', stamp(nowUs()), unpack(words, first + 3))
  noteJid(lane, id, jid)
  redis.call('PUBLISH', channelOf(lane), 'create:' .. id)
  book(lane, 'submitted', 1)
  local act = actOn(lane, queue, now)
  enterLine(act, { { id, level } })
  endAct(act)
  return true
end
