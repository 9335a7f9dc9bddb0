-- Gives a job back to a lease that it lost, wherever it stands by now, for the late outcome of its worker. Whoever has the job
-- meanwhile loses it, and may be late in turn.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 id: integer
--   5 token of the lease: string
--   6 how far it has come in its queues (empty at first): string
--   7 how long the outcome may take: integer, ms
--   8 queue (its hint index, empty for none): string
-- Returns 1, or 2 if the job was handed out again since; 0 for a job that has ended, or never had the lease; a string where
-- another call has to go on.
local lane, id, token = ARGV[3], ARGV[4], ARGV[5]
local key = Keys.job(lane, id)
local act = Places.actOn(lane, ARGV[8], Keys.nowMs())
local job = Places.readPlaced(act, id)
local status, other = job.status, job.token
local tokens, isKnown = Former.of(Keys.jobFields(lane, id, 'former')[1]), false
for _, lost in ipairs(tokens) do
  isKnown = isKnown or lost == token
end
if not isKnown or other == token then return 0 end

-- A native worker has the job, or is about to: it still writes its outcome into the hash.
local function leaveToNative()
  redis.call('HSET', key, 'keep', math.max(Fields.whole(job.keep) or 0, JobEnds.relaySeconds))
end

if status == 'busy' then
  if not other then leaveToNative() end
elseif status == 'idle' then
  if not Places.takeScheduled(act, job) then
    local removal = Removal.removalFrom(lane)
    local list, place = Removal.findQueued(removal, id, job.level, job.enqueued, ARGV[6])
    if list then
      place = Removal.takeOut(removal, list, place, job)
      Removal.closeGaps(removal)
    end
    if place then return place end
    Places.leftPlace(act, job)
    if not list then leaveToNative() end
  end
  Keys.forgetRetry(lane, id)
elseif redis.call('ZREM', Keys.dead(lane), id) == 0 then
  return 0
end
if other then Former.note(lane, id, other) end
redis.call('HSET', key, 'status', 'busy', 'token', token)
redis.call('HDEL', key, 'settled')
redis.call('ZADD', KEYS[1], Keys.integer(Keys.nowMs() + ARGV[7]), id)
Places.endAct(act)
return (other or tokens[#tokens] ~= token) and 2 or 1
