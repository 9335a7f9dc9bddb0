-- The job of each Faktory jid, in any lane. In a cluster that index is in other slots: a lane keeps its own jids, and
-- notes changes for a node. Needs keys.lua.

local function noteJid(lane, id, jid)
  if isCluster then
    redis.call('HSET', jidKey(lane), jid, id)
    redis.call('SADD', batchOutboxKey(lane), 'jid add ' .. id .. ' ' .. jid)
  else
    redis.call('HSET', jidsKey(), jid, id .. ' ' .. lane)
  end
end

-- Notes the jids of many jobs of a lane ({ id, jid }).
local function noteJids(lane, jobs)
  if #jobs == 0 then return end
  local pairsOf = {}
  for _, job in ipairs(jobs) do
    if isCluster then noteJid(lane, job[1], job[2]) end
    pairsOf[#pairsOf + 1], pairsOf[#pairsOf + 2] = job[2], job[1] .. ' ' .. lane
  end
  if not isCluster then redis.call('HSET', jidsKey(), unpack(pairsOf)) end
end

-- The jobs of a lane that have these jids: ids by jid.
local function idsOfJids(lane, jids)
  local ids = {}
  if #jids == 0 then return ids end
  for index, ref in ipairs(redis.call('HMGET', isCluster and jidKey(lane) or jidsKey(), unpack(jids))) do
    if ref then
      local id, where = string.match(ref, '^(%d+) ?(.*)$')
      if isCluster or where == lane then ids[jids[index]] = id end
    end
  end
  return ids
end

-- Drops an ended job's jid. `keep`: retention of its hash, seconds.
local function forgetJid(lane, id, jid, keep)
  if isCluster then
    if redis.call('HGET', jidKey(lane), jid) == id then redis.call('HDEL', jidKey(lane), jid) end
    redis.call('SADD', batchOutboxKey(lane), 'jid ' .. keep .. ' ' .. id .. ' ' .. jid)
    return
  end
  local ref = id .. ' ' .. lane
  if redis.call('HGET', jidsKey(), jid) == ref then redis.call('HDEL', jidsKey(), jid) end
  if keep > 0 then redis.call('SET', endedKey(jid), ref, 'EX', keep) end
end
