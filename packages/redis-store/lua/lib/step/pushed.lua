-- Jobs that a script pushes itself: callbacks of batches, and jobs that tell of a death.

-- True if a lane is registered, or is from now on.
function Pushed.isRegistered(lane, queue)
  if redis.call('HEXISTS', Keys.meta(lane), 'number') == 1 then return true end
  if Keys.isCluster then return false end
  return Registry.registerLane(lane, Registry.homeOf(lane, queue), 0) ~= nil
end

-- The store's epoch as its nodes have noted it. In a cluster it is in another slot.
function Pushed.storedEpoch()
  return tonumber(redis.pcall('ZREVRANGE', Keys.broker .. ':epochs', 0, 0, 'WITHSCORES')[2] or 0)
end

-- Stores a job; false and why if there is no id for it. `epoch`: the store's. `words` from `first` on: queue (its hint
-- index, empty for none), level, jid, fields and values of its hash.
function Pushed.storePushed(lane, epoch, words, first)
  local queue, level, jid, now = words[first], tonumber(words[first + 1]), words[first + 2], Keys.nowMs()
  local last, problem = Ids.takeIdsOf(epoch, lane, 1)
  if not last then return false, problem end
  local id = Keys.integer(last)
  redis.call(
    'HSET',
    Keys.job(lane, id),
    'status',
    'idle',
    'enqueued',
    Keys.stamp(Keys.nowUs()),
    unpack(words, first + 3)
  )
  Jids.noteJid(lane, id, jid)
  redis.call('PUBLISH', Keys.channelOf(lane), 'create:' .. id)
  Books.book(lane, 'submitted', 1)
  local act = Places.actOn(lane, queue, now)
  Places.enterLine(act, { { id, level } })
  Places.endAct(act)
  return true
end
