-- The job of each Faktory jid, in any lane. In a cluster that index is in other slots: a lane keeps its own jids, and
-- notes changes for a node.

function Jids.noteJid(lane, id, jid)
  if Keys.isCluster then
    redis.call('HSET', Keys.jid(lane), jid, id)
    redis.call('SADD', Keys.batchOutbox(lane), 'jid add ' .. id .. ' ' .. jid)
  else
    redis.call('HSET', Keys.jids(), jid, id .. ' ' .. lane)
  end
end

-- Notes the jids of many jobs of a lane ({ id, jid }).
function Jids.noteJids(lane, jobs)
  if #jobs == 0 then return end
  local pairsOf = {}
  for _, job in ipairs(jobs) do
    if Keys.isCluster then Jids.noteJid(lane, job[1], job[2]) end
    pairsOf[#pairsOf + 1], pairsOf[#pairsOf + 2] = job[2], job[1] .. ' ' .. lane
  end
  if not Keys.isCluster then redis.call('HSET', Keys.jids(), unpack(pairsOf)) end
end

-- The jobs of a lane that have these jids: ids by jid.
function Jids.idsOfJids(lane, jids)
  local ids = {}
  if #jids == 0 then return ids end
  for index, ref in ipairs(redis.call('HMGET', Keys.isCluster and Keys.jid(lane) or Keys.jids(), unpack(jids))) do
    if ref then
      local id, where = string.match(ref, '^(%d+) ?(.*)$')
      if Keys.isCluster or where == lane then ids[jids[index]] = id end
    end
  end
  return ids
end

-- Drops an ended job's jid. `keep`: retention of its hash, seconds.
function Jids.forgetJid(lane, id, jid, keep)
  if Keys.isCluster then
    if redis.call('HGET', Keys.jid(lane), jid) == id then redis.call('HDEL', Keys.jid(lane), jid) end
    redis.call('SADD', Keys.batchOutbox(lane), 'jid ' .. keep .. ' ' .. id .. ' ' .. jid)
    return
  end
  local ref = id .. ' ' .. lane
  if redis.call('HGET', Keys.jids(), jid) == ref then redis.call('HDEL', Keys.jids(), jid) end
  if keep > 0 then redis.call('SET', Keys.ended(jid), ref, 'EX', keep) end
end
