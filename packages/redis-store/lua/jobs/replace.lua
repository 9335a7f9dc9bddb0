-- Replaces a job that does not run by another one, with a new id and the changes that are given. The new one has the old one's
-- jid, unique id, lock and batch, of which nothing ends; failures and losses are the old one's alone.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 id: integer
--   5 how far it has come in its queues (empty at first): string
--   6 queue (its hint index, empty for none): string
--   7 the store's epoch: integer
--   8 when the new job is due (empty for now): integer, ms
--   9 and more: fields of the new job with their values; an empty one but that of `input` is none: strings
-- Returns { the new id, 1 if that is queued though the old job was not }; { 0, why it is not replaced: runs, gone, awaited by a
-- client, or held by a rollback }; a string where another call has to go on.
local lane, id, cursor, due = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[8])
local now = Keys.nowMs()
Keys.assertQueueTypes(lane)
local act = Places.actOn(lane, ARGV[6], now)
local job = Places.readPlaced(act, id)
local old = Keys.job(lane, id)
if job.status == 'busy' then return { 0, 'runs' } end
if job.status ~= 'idle' and not redis.call('ZSCORE', Keys.dead(lane), id) then return { 0, 'gone' } end
if (job.waiting or '') ~= '' and job.status == 'idle' then return { 0, 'awaited' } end
if redis.call('HEXISTS', old, 'held') == 1 then return { 0, 'held' } end

local last, problem = Ids.takeIdsOf(tonumber(ARGV[7]), lane, 1)
if not last then return redis.error_reply(problem) end

-- The job stays where it is: no other one comes.
local function leave(answer)
  redis.call('DECRBY', Keys.of('uid', lane), 1)
  return answer
end

local isQueued = false
if job.status ~= 'idle' then
  redis.call('ZREM', Keys.dead(lane), id)
else
  local how = Places.takeScheduled(act, job)
  isQueued = not how or how == 'turn'
  if not how then
    local removal = Removal.removalFrom(lane)
    local list, place = Removal.findQueued(removal, id, job.level, job.enqueued, cursor)
    if list then
      place = Removal.takeOut(removal, list, place, job)
      Removal.closeGaps(removal)
    end
    if place then return leave(place) end
    -- A native worker has just taken it.
    if not list then return leave({ 0, 'runs' }) end
    Places.leftPlace(act, job)
  end
end

-- Nothing is asked for that the old job does not have, and nobody finds the two at once.
local new = Keys.integer(last)
local key = Keys.job(lane, new)
redis.call('RENAME', old, key)
-- stylua: ignore
redis.call('HDEL', key, 'failure', 'losses', 'former', 'token', 'settled', 'rerun', 'arrived', 'fg', 'wait', 'output', 'thrown',
  'status:dividend', 'status:divisor', 'note', 'noted')
redis.call('HSET', key, 'status', 'idle', 'enqueued', Keys.stamp(Keys.nowUs()))
for at = 9, #ARGV, 2 do
  if ARGV[at + 1] == '' and ARGV[at] ~= 'input' then
    redis.call('HDEL', key, ARGV[at])
  else
    redis.call('HSET', key, ARGV[at], ARGV[at + 1])
  end
end

local more = Keys.jobFields(lane, new, 'once', 'level')
if job.unique then
  local holder = redis.call('HGET', Keys.unique(lane), job.unique)
  -- Since the job died another one may have come with its unique id.
  if not holder or holder == id then redis.call('HSET', Keys.unique(lane), job.unique, new) end
end
if job.jid then
  local holder = redis.call('HGET', Keys.isCluster and Keys.jid(lane) or Keys.jids(), job.jid)
  if not holder or holder == (Keys.isCluster and id or id .. ' ' .. lane) then Jids.noteJid(lane, new, job.jid) end
end
if more[1] then
  local lock = Keys.uniqueLock(lane) .. ':' .. more[1]
  if redis.call('GET', lock) == id then redis.call('SET', lock, new, 'KEEPTTL') end
end
if due and due > now then
  Places.schedule(act, new, due)
else
  Places.enterLine(act, { { new, more[2] } })
  if not isQueued then Books.book(lane, 'rerun', 1) end
end
redis.call('PUBLISH', Keys.channelOf(lane), 'finish:' .. id)
redis.call('PUBLISH', Keys.channelOf(lane), 'create:' .. new)
Places.endAct(act)
return { last, (isQueued or due and due > now) and 0 or 1 }
