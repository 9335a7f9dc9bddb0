-- One step of a node: reports, outcomes, submissions and claims, in this order, each part in the order of arrival. A
-- lane that is refused does not affect the others.
-- KEYS:
--   1 any key of the slot: for routing
-- ARGV:
--   3 and more: one packed list (see packed.lua):
--     node: string
--     default reserve_for of consumers: integer, ms
--     most dead jobs of a lane: integer
--     how long a dead job is kept: integer, seconds
--     number of the first token: integer
--     the store's epoch: integer
--     long inputs: integer; the transaction of this call has set each in a hash of its own
--     how long by-name workers close a lane: integer, ms
--     reports: integer; per report:
--       lane: string
--       kind (data, warning, status, lease): string
--       id: integer
--       token: string
--       two values: data and -; dividend and divisor; or how long the node had the job prefetched (ms) and -
--     lanes with outcomes: integer; per lane:
--       lane: string
--       queue (its hint index, empty for none): string
--       values that follow: integer
--       outcomes: integer
--       runs of outcomes of one kind, where the function has a limit after a run of none whose kind is the limit's name:
--       integer; per run:
--         kind: string
--         outcomes: integer
--         values of each: integer; these are its id, its token, and, as far as they are there:
--           complete: output (0: withheld, as nobody elsewhere should want it), -, -
--           end, a complete of a job that leaves nothing but its clients, unique id and jid: output as above, these two
--           fail: message, 1 if thrown, failure JSON (empty: not kept)
--           retry: message, delay (ms), failure JSON
--           dead: message, -, failure JSON
--           requeue: 1 if lost, most losses (0: no limit), failure JSON
--           requeueFront: -, -, -
--           late fail, late retry, late dead, of a lease that was over: as fail, retry and dead
--     when the submissions came (empty for now): integer, us
--     lanes with submissions: integer; per lane:
--       lane: string
--       queue (its hint index, empty for none): string
--       values that follow: integer
--       1 if the node keeps all of the jobs: flag
--       jobs: integer
--       runs of jobs of one level, kind and door, where jobs take turns after a run of none whose door is the limits of each
--       value (see turns.lua): integer; per run:
--         jobs: integer
--         level: integer
--         1 if foreground: flag
--         door: string
--         per job:
--           place in the order of arrival: integer, us
--           input: bytes, or the number of a long one
--           values that follow: integer, 0 for none of these:
--           values of the next ones, up to the last one that there is: integer
--           due (empty for now): integer, ms
--           lock (empty for none): string
--           how long the lock is held: integer, ms
--           batch (empty for none; in a cluster the name of the note by which the submission has joined it): string
--           cron entry: string
--           tick of the entry: integer, ms
--           most jobs that may wait for it to be stored (0: any): integer
--           if it needs a worker (empty: no; named: consumers only of open lanes; auto: also of those opened by rule): string
--           lanes whose waiting jobs count too: strings
--           names and values of further fields, first the unique id, then the jid: strings
--     1 if the server knows all listeners: flag
--     lanes on which the node listens: integer, lanes
--     values that say which jobs the node still has: integer; per lane:
--       lane: string
--       ranges of ids: integer; per range: first, last, 1 if a client waited for one of them, else 0
--     claims: integer; per claim:
--       by (n: named; l: named, by level; of consumers f: functions that they named, o: opened lanes, a: also lanes that
--         the automatic rule opens): string
--       most jobs: integer
--       most of them prefetched: integer
--       groups: integer; per group its one lane, if it has no lease: string; else:
--         lanes that follow: integer
--         lease (empty for none): integer, ms
--         queue (its hint index, empty for none): string
--         lanes: strings
--       throttles: integer; per throttle:
--         name: string
--         concurrency (0: any): integer
--         rate (0: any): integer
--         time of the rate: integer, ms
--         timeout (0: none): integer, ms
--         jobs of a worker (0: any; -1: the limits are of each value, see turns.lua): integer
--         the worker: string
--         lanes that it limits: integer, lanes
--       paused lanes: integer, lanes
-- Returns packed (or, with long values out of line, a list of it and those):
--   when the submissions came (us)
--   a digit per report: 1 known, 0 not
--   per lane of outcomes an error, or a digit per outcome (see outcomes.lua)
--   per lane of submissions an error, or a list (see submissions.lua)
--   per claim an error, or a list:
--     jobs, flat: lane, and a list of id, token, and fields and values of its hash as they were; or, of those in a row
--       that the node has, id, token and `enqueued` of each in one string
--     flat per throttle that held something back: name, for how long (ms, 0: until a job ends)
--     0 if a named worker would find nothing more, 2 if the claim is to go on, else 1
--     flat per job that was dropped instead, absent without any: lane, id, door, how (expired, died)
local given = Packed.unpackedArguments(ARGV, 3)
Step.begin(given)
local reported, ended, submitted, claimed = {}, {}, {}, {}

local reports, at = given[9], 10
local outcomesAt = at + 6 * reports
-- Known before the first event is published: the lanes of the step, and those that this node listens to.
local function skipOutcomes(from)
  local lanes = given[from]
  from = from + 1
  for _ = 1, lanes do
    News.busyLanes[given[from]] = true
    from = from + 3 + given[from + 2]
  end
  return from
end
local submissionsAt = skipOutcomes(outcomesAt)
local listensAt = submissionsAt + 2
for _ = 1, given[submissionsAt + 1] do
  News.busyLanes[given[listensAt]], Handover.coming[given[listensAt]] = true, true
  listensAt = listensAt + 3 + given[listensAt + 2]
end
local listens = given[listensAt + 1]
if given[listensAt] == 1 then
  News.ownLanes = {}
  for index = listensAt + 2, listensAt + 1 + listens do
    News.ownLanes[given[index]] = true
  end
end
at = listensAt + 2 + listens
local claimsAt = at + 1 + given[at]
Step.hasClaims = given[claimsAt] > 0
at = at + 1
while at < claimsAt do
  Step.keptAt[given[at]] = at + 1
  at = at + 2 + 3 * given[at + 1]
end
at = 10

for index = 1, reports do
  reported[index] = Step.guarded(Reports.report, unpack(given, at, at + 5)) == 1 and 1 or 0
  at = at + 6
end

at = outcomesAt + 1
for index = 1, given[outcomesAt] do
  local lane, queue, values, count, runs = unpack(given, at, at + 4)
  ended[index] = Step.guarded(Outcomes.endLane, lane, queue, count, runs, at + 5)
  at = at + 3 + values
end

local arrivedUs = given[submissionsAt]
if arrivedUs == '' then arrivedUs = Step.nowMicros end
at = claimsAt + 1
for index = 1, given[claimsAt] do
  Handover.claims[index], at = Claims.readClaim(at)
end
at = submissionsAt + 2
for index = 1, given[submissionsAt + 1] do
  local lane, queue, values, isKept, count, runs = unpack(given, at, at + 5)
  Handover.coming[lane] = nil
  submitted[index] = Step.guarded(Submissions.submitLane, lane, queue, isKept, count, runs, at + 6, arrivedUs)
  at = at + 3 + values
end

Submissions.dropInputs(given[7])
for index, claim in ipairs(Handover.claims) do
  claimed[index] = Claims.takeClaim(claim)
end
News.tellNews()
Step.reply[1] = cmsgpack.pack({ arrivedUs, table.concat(reported), ended, submitted, claimed })
return #Step.reply > 1 and Step.reply or Step.reply[1]
