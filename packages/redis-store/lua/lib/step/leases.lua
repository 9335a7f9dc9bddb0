-- Leases single jobs. Needs places.lua, jobs.lua, throttle.lua, outcomes.lua, step.lua.

-- The number of this node's next token.
local sequence

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
local function tokenStart(claim, lane)
  local known = claim.starts[lane]
  if known == nil then
    local of = letters[claim.by]
    if not of.named and opennessBy[lane] == nil then opennessBy[lane] = openness(lane, now) or false end
    local letter = of.named or of[opennessBy[lane]]
    known = letter and letter .. node .. '-' or false
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
  local at = keptAt[lane]
  if not at or not isJobId(id) then return nil end
  local number = tonumber(id)
  for first = at + 1, at + 3 * given[at], 3 do
    if number >= given[first] and number <= given[first + 1] then return given[first + 2] end
  end
end

-- The fields that may have changed; nil if there is no such job. A job that runs again has another `enqueued`.
local function readKept(lane, id, foreground)
  local enqueued, wait
  if foreground == 0 then
    enqueued = redis.pcall('HGET', jobKey(lane, id), 'enqueued')
  else
    local v = jobFields(lane, id, 'enqueued', 'wait')
    enqueued, wait = v[1], v[2]
  end
  -- Spaces tell the words of an answer apart.
  if type(enqueued) ~= 'string' or string.find(enqueued, ' ', 1, true) then return nil end
  if wait ~= '' then return { status = 'idle', enqueued = enqueued } end
  return { status = 'idle', enqueued = enqueued, wait = '', fg = jobFields(lane, id, 'fg')[1], door = 'gearman' }
end

-- The fields of a job's hash; nil if there is none. `stored`: flat as the server has them, absent if the node has the
-- rest.
local function readJob(lane, id)
  local enqueued = fresh[lane] and fresh[lane][id]
  if enqueued then return { status = 'idle', enqueued = enqueued } end
  local foreground = keptAs(lane, id)
  local job = foreground and readKept(lane, id, foreground)
  if job then return job end
  local stored = redis.pcall('HGETALL', jobKey(lane, id))
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
  for _, word in ipairs({ lane, id, doorIn(door) or 'native', how }) do
    claim.dropped[#claim.dropped + 1] = word
  end
end

-- Ends a job that nobody wants to run any more.
local function expire(claim, lane, id, fields)
  --#include jobs
  --#include stale
  countDropped(claim, lane, id, fields.door, endStale(lane, id, fields, '', now, given[3], given[4]))
end

-- Ends a job of a native client whose id no worker behind a gateway could name.
local function refuseId(lane, id, fields)
  --#include jobs
  local job = { id = id, door = fields.door, unique = fields.unique, jid = fields.jid, waiting = fields.wait }
  job.keep = fields.keep
  finishJob(lane, job, '', 'error', 'the id of a job is an integer from 0 to 9007199254740991')
  book(lane, 'failed', 1)
end

-- The deadline of a lease without one: beyond all times. Each claim's is below the last one's, and its last job goes first,
-- since the server inserts fastest at the front of a set: 4 us less per job.
local noDeadline = 9e15

-- The deadline of a job's lease, as text.
local function deadlineOf(claim, reserveFor, leaseMs)
  if claim.isNamed and not leaseMs then
    claim.noDeadline = claim.noDeadline or integer(noDeadline - sequence)
    return claim.noDeadline
  end
  -- No job is reserved for more than a day.
  local seconds = read.whole(reserveFor, 86400) or 0
  local ms = leaseMs or seconds > 0 and seconds * 1000 or defaultReserveMs
  if claim.leaseMs ~= ms then
    claim.leaseMs, claim.deadline = ms, integer(now + ms)
  end
  -- Half a millisecond more: prefetched by its node, see startLease.
  local isAsked = claim.isNamed or claim.taken < claim.max - claim.ahead
  return isAsked and claim.deadline or claim.deadline .. '.5'
end

-- Adds a job to the answer of a claim. Consecutive jobs that the node has become one string.
local function answer(claim, lane, id, token, enqueued, stored)
  local jobs = claim.jobs
  if stored then
    setAside(stored, reply)
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

local function nextToken(claim, lane)
  sequence = sequence + 1
  return tokenStart(claim, lane) .. integer(sequence - 1)
end

-- The part of a lease outside the job's hash. `reserveFor`, `stored`: of a job that was read, see readJob.
local function grant(claim, lane, id, token, leaseMs, enqueued, reserveFor, stored)
  answer(claim, lane, id, token, enqueued, stored)
  local deadline = deadlineOf(claim, reserveFor, leaseMs)
  claim.taken = claim.taken + 1
  local throttles = claim.byLane[lane]
  if throttles then
    -- Throttles are checked against the stored deadline.
    redis.call('ZADD', busyKey(lane), deadline, id)
    for _, throttle in ipairs(throttles) do
      tookThrottled(throttle, lane, id, now)
    end
  else
    local added = claim.deadlines[lane] or {}
    claim.deadlines[lane] = added
    added[#added + 1], added[#added + 2] = id, deadline
  end
end

-- Leases a popped job, unless nobody waits for it or wants it any more: then it counts as a correction.
local function leaseJob(claim, lane, band, id, leaseMs, job)
  job = job or readJob(lane, id)
  claim.corrections = claim.corrections + 1
  if not job then return end
  local key = jobKey(lane, id)
  leftLevel(lane, job.level)
  if not job.status or (job.settled and read.isSettled(job.settled, job.status)) then return end
  if job.stored and not isJobId(id) then return refuseId(lane, id, job) end
  if job.wait == '' and read.isForeground(job.door, job.fg, '') then
    local v = redis.call('HMGET', key, 'unique', 'jid', 'door')
    forgetIndexes(lane, id, v[1], v[2])
    redis.call('DEL', key)
    book(lane, 'expired', 1)
    countDropped(claim, lane, id, v[3], 'expired')
    return
  end
  if job.stale and doorIn(job.door) and read.isStale(job.stale, now) then return expire(claim, lane, id, job) end
  claim.corrections = claim.corrections - 1
  if job.once_until == 'start' and job.once then unlock(lane, id, job.once) end
  local token = nextToken(claim, lane)
  redis.call('HSET', key, 'status', 'busy', 'token', token)
  -- A native client's job has the level of the band it was pushed to, and goes back there.
  if job.stored and not job.level and band ~= 'normal' then redis.call('HSET', key, 'level', usual[band]) end
  if job.timed == '1' and claim.isNamed then
    local seconds = doorIn(job.door) and read.whole(job.reserve_for, 86400) or 0
    if seconds > 0 then leaseMs = math.min(leaseMs or math.huge, seconds * 1000) end
  end
  countLeft(lane, -1)
  if listenersOf(lane) == 'each' then redis.call('PUBLISH', channelOf(lane), 'start:' .. id) end
  grant(claim, lane, id, token, leaseMs, job.enqueued, job.reserve_for, job.stored)
end

-- Leases a popped job of a lane where jobs take turns as leaseJob does, if it has the turn.
turns.lease = function(claim, lane, band, id, leaseMs, job)
  job = job or readJob(lane, id)
  local act = claim.acts[lane] or actOn(lane, '', now, claim.turns[lane])
  claim.acts[lane] = act
  local turn = job and job.turn or redis.call('HGET', jobKey(lane, id), 'turn') or ''
  local popped = { id = id, turn = turn }
  if job and job.status then
    -- The job waits at the level of the band to which a native client has pushed it.
    if job.stored and not job.level and band ~= 'normal' then
      redis.call('HSET', jobKey(lane, id), 'level', usual[band])
      job.level = tostring(usual[band])
    end
    popped.level, popped.enqueued = job.level, job.enqueued
    if not turns.mayBeLeased(act, popped) then
      claim.corrections = claim.corrections + 1
      return
    end
  end
  local before = claim.taken
  leaseJob(claim, lane, band, id, leaseMs, job)
  turns.leftForWorker(act, popped, claim.taken > before)
end

-- Leases popped jobs, or else the next one. `claim.popped`: those that are not done with, for the case of an error.
local function leaseAll(claim, lane, band, leaseMs, ids)
  ids = ids or redis.call('RPOP', queueKey(lane, band), 1) or {}
  claim.popped, claim.from, claim.band = ids, lane, band
  local lease = claim.turns[lane] and turns.lease or leaseJob
  for at, id in ipairs(ids) do
    claim.at = at
    lease(claim, lane, band, id, leaseMs)
  end
  claim.popped = nil
end

-- After an error that a job has caused: keeps it with the dead, and puts those behind it back. False if no job has.
local function passOver(claim, problem)
  local ids, lane = claim.popped, claim.from
  if not ids then return false end
  claim.popped, claim.corrections = nil, claim.corrections + 1
  for at = #ids, claim.at + 1, -1 do
    redis.call('RPUSH', queueKey(lane, claim.band), ids[at])
  end
  local id, message =
    ids[claim.at], 'it cannot be handed out: ' .. (type(problem) == 'table' and problem.err or problem)
  bury(lane, { id = id, door = 'gearman' }, message, cjson.encode({ errtype = 'Unreadable', message = message }))
  return true
end
