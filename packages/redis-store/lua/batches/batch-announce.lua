-- In a cluster: passes ended jobs and callbacks to their batch. Repeating it is harmless.
-- KEYS:
--   1 {xg}:batch:<bid>: hash
-- ARGV:
--   3 bid: string
--   4 lane: string
--   5 and more, per entry: kind (job, callback), word (done, failed), and the id of the job or <bid>:<what>: strings
-- Returns 1.
local bid, lane = ARGV[3], ARGV[4]
local ran = KEYS[1] .. ':ran'

-- A finished job stays finished, whichever entry comes first.
local function jobRan(id, word)
  local member = lane .. '\0' .. id
  local before = redis.call('HGET', ran, member)
  if before == 'done' or before == word then return end
  redis.call('HSET', ran, member, word)
  if not before then
    redis.call('HINCRBY', KEYS[1], 'pending', -1)
    if word == 'failed' then redis.call('HINCRBY', KEYS[1], 'failed', 1) end
  else
    redis.call('HINCRBY', KEYS[1], 'failed', -1)
  end
  Batches.touchBatch(bid)
  Batches.settleBatch(bid)
end

if not Batches.isBatch(bid) then return 0 end
for at = 5, #ARGV, 3 do
  local kind, word, tie = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if kind == 'job' then
    jobRan(tie, word)
  else
    Batches.callbackEnded(tie, word == 'done')
  end
end
return 1
