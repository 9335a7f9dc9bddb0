-- The consequences of the end of jobs. `nativeRetention`, `relaySeconds` and `maxRelayed` are those of
-- job-ends.ts.
Jobs.lockSeconds = 10

function Jobs.forgetIndexes(lane, id, unique, jid, keep)
  if unique and redis.call('HGET', Keys.unique(lane), unique) == id then
    redis.call('HDEL', Keys.unique(lane), unique)
  end
  if jid then Jids.forgetJid(lane, id, jid, keep or 0) end
end

-- The other nodes with waiting clients, each once; nil if there are none.
function Jobs.otherNodes(waiting, node)
  if not waiting or waiting == node or waiting == '' or not Fields.wait(waiting) then return nil end
  local others, seen = {}, { [node] = true }
  for other in string.gmatch(waiting, '([^,=]+)=?%d*') do
    if not seen[other] then
      seen[other], others[#others + 1] = true, other
    end
  end
  return others[1] and others
end

function Jobs.relay(lane, id, others, kind, data)
  if not others then return end
  for _, other in ipairs(others) do
    -- A node of a former version, whose name has no mark, does not read a packed event.
    local isPacked = string.find(other, '^%d*x?m')
    local message = isPacked and 'event\0' .. cmsgpack.pack({ kind, lane, tostring(id), data })
    redis.call('PUBLISH', Keys.nodeChannel(other), message or kind .. '\0' .. lane .. '\0' .. id .. '\0' .. data)
  end
end

-- Releases the native client that may be blocked on its job. Another program may have put another type there.
function Jobs.releaseLock(lane, id)
  local lock = Keys.of('lock', lane) .. ':' .. id
  redis.pcall('LPUSH', lock, 'OK')
  redis.call('EXPIRE', lock, Jobs.lockSeconds)
end

-- Collects the ends of many jobs of a lane; finishEnds does their common part at once. `isQuiet`: nobody is notified.
function Jobs.endsOf(isQuiet)
  return {
    isQuiet = isQuiet,
    keys = {},
    uniques = {},
    uniqueIds = {},
    jids = {},
    jidRefs = {},
    told = {},
  }
end

-- Adds a job that leaves nothing behind.
function Jobs.addEnd(lane, id, key, unique, jid, ends)
  ends.keys[#ends.keys + 1] = key
  if unique then
    local at = #ends.uniques + 1
    ends.uniques[at], ends.uniqueIds[at] = unique, id
  end
  if jid then
    local at = #ends.jids + 1
    ends.jids[at], ends.jidRefs[at] = jid, id .. ' ' .. lane
  end
end

-- Deletes the names that still have these values in a hash.
local function forgetPairs(hash, names, values)
  local gone, found = names, redis.call('HMGET', hash, unpack(names))
  for at = 1, #names do
    local isTheirs = found[at] ~= values[at]
    if isTheirs and gone == names then gone = { unpack(names, 1, at - 1) } end
    if not isTheirs and gone ~= names then gone[#gone + 1] = names[at] end
  end
  if #gone > 0 then redis.call('HDEL', hash, unpack(gone)) end
end

function Jobs.finishEnds(lane, ends)
  for other, told in pairs(ends.told) do
    redis.call('PUBLISH', Keys.nodeChannel(other), 'complete\0' .. cmsgpack.pack({ lane, told }))
  end
  if #ends.uniques > 0 then forgetPairs(Keys.unique(lane), ends.uniques, ends.uniqueIds) end
  if #ends.jids > 0 then forgetPairs(Keys.jids(), ends.jids, ends.jidRefs) end
  if #ends.keys > 0 then redis.call('DEL', unpack(ends.keys)) end
end

-- Ends a job { id, door, unique, jid, waiting, keep }. A native client's job is kept as its protocol says, and its lock
-- is released; others are kept as asked for, or for clients on other nodes. `job.isAnnounced`: its worker publishes
-- `finish`. `job.how`, `job.dependencies`: see releaseDependencies; an unsuccessful job counts as dropped. `ends`:
-- collects work for many jobs.
function Jobs.finishJob(lane, job, node, status, output, ends)
  local key, id, door = Keys.job(lane, job.id), job.id, Fields.doorIn(job.door)
  if door == 'faktory' then
    Dependencies.releaseDependencies(
      lane,
      id,
      status == 'success' and 'success' or job.how or 'dropped',
      job.dependencies
    )
  end
  local others = Jobs.otherNodes(job.waiting, node)
  if others and ends and status == 'success' and #output <= JobEnds.maxRelayed then
    for _, other in ipairs(others) do
      local told = ends.told[other] or {}
      ends.told[other] = told
      told[#told + 1], told[#told + 2] = id, output
    end
  else
    Jobs.relay(lane, id, others, 'finish', '')
  end
  local keep = not door and JobEnds.nativeRetention or job.keep and Fields.whole(job.keep) or 0
  if others and keep < JobEnds.relaySeconds then keep = JobEnds.relaySeconds end
  if ends and keep == 0 and not Keys.isCluster then
    Jobs.addEnd(lane, id, key, job.unique, job.jid, ends)
  else
    Jobs.forgetIndexes(lane, id, job.unique, job.jid, keep)
    if keep > 0 then
      redis.call('HSET', key, 'status', status, 'output', output, 'settled', 1, 'ended', Keys.integer(Keys.nowMs()))
      redis.call('HDEL', key, 'token')
      redis.call('EXPIRE', key, keep)
    else
      redis.call('DEL', key)
    end
  end
  if not job.isAnnounced and not (ends and ends.isQuiet) then
    redis.call('PUBLISH', Keys.channelOf(lane), 'finish:' .. id)
  end
  if not door then Jobs.releaseLock(lane, id) end
end
