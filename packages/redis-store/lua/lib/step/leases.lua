-- Leases single jobs.

-- `sequence`: the number of this node's next token.
function Leases.begin(sequence) Leases.sequence = sequence end

-- The first letter of a token, by how a lane is open; see `by` in step.lua.
local letters = {
  n = { named = 'n' },
  l = { named = 'n' },
  f = { named = 'c' },
  o = { open = 'c' },
  a = { open = 'c', auto = 'a' },
}

-- The token of a lease up to its number. Its first letter: n by name, c a consumer, a a consumer by the automatic rule;
-- false if the lane is closed to this worker.
function Leases.tokenStart(claim, lane)
  local known = claim.starts[lane]
  if known == nil then
    local of = letters[claim.by]
    if not of.named and Step.opennessBy[lane] == nil then
      Step.opennessBy[lane] = Lanes.openness(lane, Step.now) or false
    end
    local letter = of.named or of[Step.opennessBy[lane]]
    known = letter and letter .. Step.node .. '-' or false
    claim.starts[lane] = known
  end
  return known
end

-- An id as INCR makes it, of at most 2^53 - 1: any other is read as another number, or as none.
local function isJobId(id)
  if not string.find(id, '^[1-9]%d*$') then return id == '0' end
  return #id < 16 or (#id == 16 and id <= '9007199254740991')
end

-- Tells if the node still has a job that it submitted: 1 with a waiting client, 0 without, nil not. Such jobs have the
-- usual level of their band, no times of their own and no lock.
local function keptAs(lane, id)
  local at = Step.keptAt[lane]
  if not at or not isJobId(id) then return nil end
  local number = tonumber(id)
  for first = at + 1, at + 3 * Step.given[at], 3 do
    if number >= Step.given[first] and number <= Step.given[first + 1] then return Step.given[first + 2] end
  end
end

-- The fields that may have changed; nil if there is no such job. A job that runs again has another `enqueued`.
local function readKept(lane, id, foreground)
  local enqueued, wait
  if foreground == 0 then
    enqueued = redis.pcall('HGET', Keys.job(lane, id), 'enqueued')
  else
    local v = Keys.jobFields(lane, id, 'enqueued', 'wait')
    enqueued, wait = v[1], v[2]
  end
  -- Spaces tell the words of an answer apart.
  if type(enqueued) ~= 'string' or string.find(enqueued, ' ', 1, true) then return nil end
  if wait ~= '' then return { status = 'idle', enqueued = enqueued } end
  return { status = 'idle', enqueued = enqueued, wait = '', fg = Keys.jobFields(lane, id, 'fg')[1], door = 'gearman' }
end

-- The fields of a job's hash; nil if there is none. `stored`: flat as the server has them, absent if the node has the
-- rest.
function Leases.readJob(lane, id)
  local enqueued = Step.fresh[lane] and Step.fresh[lane][id]
  if enqueued then return { status = 'idle', enqueued = enqueued } end
  local foreground = keptAs(lane, id)
  local job = foreground and readKept(lane, id, foreground)
  if job then return job end
  local stored = redis.pcall('HGETALL', Keys.job(lane, id))
  if stored.err or #stored == 0 then return nil end
  job = {}
  for at = 1, #stored, 2 do
    job[stored[at]] = stored[at + 1]
  end
  job.stored = stored
  return job
end

-- Notes a job that is dropped instead of leased.
local function countDropped(claim, lane, id, door, how)
  claim.dropped = claim.dropped or {}
  for _, word in ipairs({ lane, id, Fields.doorIn(door) or 'native', how }) do
    claim.dropped[#claim.dropped + 1] = word
  end
end

-- Ends a job that nobody wants to run any more.
local function expire(claim, lane, id, fields)
  countDropped(
    claim,
    lane,
    id,
    fields.door,
    Stale.endStale(lane, id, fields, '', Step.now, Step.given[3], Step.given[4])
  )
end

-- Ends a job of a native client whose id no worker behind a gateway could name.
local function refuseId(lane, id, fields)
  local job = { id = id, door = fields.door, unique = fields.unique, jid = fields.jid, waiting = fields.wait }
  job.keep = fields.keep
  Jobs.finishJob(lane, job, '', 'error', 'the id of a job is an integer from 0 to 9007199254740991')
  Books.book(lane, 'failed', 1)
end

-- The deadline of a lease without one: beyond all times. Each claim's is below the last one's, and its last job goes first,
-- since the server inserts fastest at the front of a set: 4 us less per job.
local noDeadline = 9e15

-- The deadline of a job's lease, as text.
local function deadlineOf(claim, reserveFor, leaseMs)
  if claim.isNamed and not leaseMs then
    claim.noDeadline = claim.noDeadline or Keys.integer(noDeadline - Leases.sequence)
    return claim.noDeadline
  end
  -- No job is reserved for more than a day.
  local seconds = Fields.whole(reserveFor, 86400) or 0
  local ms = leaseMs or seconds > 0 and seconds * 1000 or Step.defaultReserveMs
  if claim.leaseMs ~= ms then
    claim.leaseMs, claim.deadline = ms, Keys.integer(Step.now + ms)
  end
  -- Half a millisecond more: prefetched by its node, see startLease.
  local isAsked = claim.isNamed or claim.taken < claim.max - claim.ahead
  return isAsked and claim.deadline or claim.deadline .. '.5'
end

-- Adds a job to the answer of a claim. Consecutive jobs that the node has become one string.
local function answer(claim, lane, id, token, enqueued, stored)
  local jobs = claim.jobs
  if stored then
    Packed.setAside(stored, Step.reply)
    jobs[#jobs + 1], jobs[#jobs + 2], claim.row = lane, { id, token, stored }, nil
    return
  end
  local row = claim.row
  if not row or row.lane ~= lane then
    row = { lane = lane }
    jobs[#jobs + 1], jobs[#jobs + 2], claim.row = lane, row, row
  end
  row[#row + 1] = id .. ' ' .. token .. ' ' .. enqueued
end

function Leases.nextToken(claim, lane)
  Leases.sequence = Leases.sequence + 1
  return Leases.tokenStart(claim, lane) .. Keys.integer(Leases.sequence - 1)
end

-- The part of a lease outside the job's hash. `reserveFor`, `stored`: of a job that was read, see readJob.
function Leases.grant(claim, lane, id, token, leaseMs, enqueued, reserveFor, stored)
  answer(claim, lane, id, token, enqueued, stored)
  local deadline = deadlineOf(claim, reserveFor, leaseMs)
  claim.taken = claim.taken + 1
  local throttles = claim.byLane[lane]
  if throttles then
    -- Throttles are checked against the stored deadline.
    redis.call('ZADD', Keys.busy(lane), deadline, id)
    for _, throttle in ipairs(throttles) do
      Throttle.tookThrottled(throttle, lane, id, Step.now)
    end
  else
    local added = claim.deadlines[lane] or {}
    claim.deadlines[lane] = added
    added[#added + 1], added[#added + 2] = id, deadline
  end
end

-- Leases a popped job, unless nobody waits for it or wants it any more: then it counts as a correction.
function Leases.leaseJob(claim, lane, band, id, leaseMs, job)
  job = job or Leases.readJob(lane, id)
  claim.corrections = claim.corrections + 1
  if not job then return end
  local key = Keys.job(lane, id)
  Places.leftLevel(lane, job.level)
  if not job.status or (job.settled and Fields.isSettled(job.settled, job.status)) then return end
  if job.stored and not isJobId(id) then return refuseId(lane, id, job) end
  if job.wait == '' and Fields.isForeground(job.door, job.fg, '') then
    local v = redis.call('HMGET', key, 'unique', 'jid', 'door')
    Jobs.forgetIndexes(lane, id, v[1], v[2])
    redis.call('DEL', key)
    Books.book(lane, 'expired', 1)
    countDropped(claim, lane, id, v[3], 'expired')
    return
  end
  if job.stale and Fields.doorIn(job.door) and Fields.isStale(job.stale, Step.now) then
    return expire(claim, lane, id, job)
  end
  claim.corrections = claim.corrections - 1
  if job.once_until == 'start' and job.once then Dependencies.unlock(lane, id, job.once) end
  local token = Leases.nextToken(claim, lane)
  redis.call('HSET', key, 'status', 'busy', 'token', token)
  -- A native client's job has the level of the band it was pushed to, and goes back there.
  if job.stored and not job.level and band ~= 'normal' then redis.call('HSET', key, 'level', Bands.usual[band]) end
  if job.timed == '1' and claim.isNamed then
    local seconds = Fields.doorIn(job.door) and Fields.whole(job.reserve_for, 86400) or 0
    if seconds > 0 then leaseMs = math.min(leaseMs or math.huge, seconds * 1000) end
  end
  News.countLeft(lane, -1)
  if News.listenersOf(lane) == 'each' then redis.call('PUBLISH', Keys.channelOf(lane), 'start:' .. id) end
  Leases.grant(claim, lane, id, token, leaseMs, job.enqueued, job.reserve_for, job.stored)
end

-- Leases a popped job of a lane where jobs take turns as leaseJob does, if it has the turn.
function Turns.lease(claim, lane, band, id, leaseMs, job)
  job = job or Leases.readJob(lane, id)
  local act = claim.acts[lane] or Places.actOn(lane, '', Step.now, claim.turns[lane])
  claim.acts[lane] = act
  local turn = job and job.turn or redis.call('HGET', Keys.job(lane, id), 'turn') or ''
  local popped = { id = id, turn = turn }
  if job and job.status then
    -- The job waits at the level of the band to which a native client has pushed it.
    if job.stored and not job.level and band ~= 'normal' then
      redis.call('HSET', Keys.job(lane, id), 'level', Bands.usual[band])
      job.level = tostring(Bands.usual[band])
    end
    popped.level, popped.enqueued = job.level, job.enqueued
    if not Turns.mayBeLeased(act, popped) then
      claim.corrections = claim.corrections + 1
      return
    end
  end
  local before = claim.taken
  Leases.leaseJob(claim, lane, band, id, leaseMs, job)
  Turns.leftForWorker(act, popped, claim.taken > before)
end

-- Leases popped jobs, or else the next one. `claim.popped`: those that are not done with, for the case of an error.
function Leases.leaseAll(claim, lane, band, leaseMs, ids)
  ids = ids or redis.call('RPOP', Keys.queue(lane, band), 1) or {}
  claim.popped, claim.from, claim.band = ids, lane, band
  local lease = claim.turns[lane] and Turns.lease or Leases.leaseJob
  for at, id in ipairs(ids) do
    claim.at = at
    lease(claim, lane, band, id, leaseMs)
  end
  claim.popped = nil
end

-- After an error that a job has caused: keeps it with the dead, and puts those behind it back. False if no job has.
function Leases.passOver(claim, problem)
  local ids, lane = claim.popped, claim.from
  if not ids then return false end
  claim.popped, claim.corrections = nil, claim.corrections + 1
  for at = #ids, claim.at + 1, -1 do
    redis.call('RPUSH', Keys.queue(lane, claim.band), ids[at])
  end
  local id, message =
    ids[claim.at], 'it cannot be handed out: ' .. (type(problem) == 'table' and problem.err or problem)
  Outcomes.bury(
    lane,
    { id = id, door = 'gearman' },
    message,
    cjson.encode({ errtype = 'Unreadable', message = message })
  )
  return true
end
