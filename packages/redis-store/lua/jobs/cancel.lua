-- Cancels a job that is queued, scheduled or leased, or that a native worker took and may have died with.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 lane: string
--   4 node: string
--   5 id: integer
-- Returns 1, or 0 for any other job.
--#include keys
--#include levels
--#include aside
--#include jobs
local lane, node, id = ARGV[3], ARGV[4], ARGV[5]
local v = jobFields(lane, id, 'status', 'door', 'unique', 'jid', 'wait', 'keep', 'level', 'token')
local job = { id = id, door = v[2], unique = v[3], jid = v[4], waiting = v[5], keep = v[6] }
local found = 0
if v[1] == 'busy' then
  found = redis.call('ZREM', KEYS[1], id)
elseif v[1] == 'idle' then
  found = redis.call('ZREM', queueKey(lane, 'scheduled'), id)
  forgetRetry(lane, id)
  for _, band in ipairs({ 'high', 'normal', 'low' }) do
    if found == 0 then
      found = redis.call('LREM', queueKey(lane, band), 1, id)
      if found > 0 and v[7] then tookLevel(lane, v[7]) end
    end
  end
  if found == 0 and removeAside(lane, id, v[7]) then found = 1 end
end
if found == 0 then
  if v[8] or (v[1] ~= 'idle' and v[1] ~= 'busy') then return 0 end
  -- A native worker that is alive still writes its outcome: the hash is kept for it.
  job.keep = math.max(tonumber(job.keep) or 0, relaySeconds)
end
finishJob(lane, job, node, 'error', '')
redis.call('HINCRBY', metaKey(lane), 'failed', 1)
return 1
