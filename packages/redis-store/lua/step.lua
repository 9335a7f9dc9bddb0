-- One step of a node: reports, outcomes, submissions and claims, in this order, each part in the order of arrival. A
-- lane that is refused does not affect the others.
-- KEYS: one of the slot (for routing). ARGV: open, close, packed:
--   node, default reserve_for of consumers (ms), dead set's most, dead seconds, number of the first token,
--   number of long inputs, each in a hash of its own that the transaction of this call has set,
--   reports: count, per report: lane, kind (data, warning, status, lease), id, token, and two values: data and -,
--     dividend and divisor, or for how long the node held the job ahead (ms) and -
--   outcomes: lanes, per lane: lane, queue (its hint index, empty for none), count, per outcome: kind, id, token, and
--     five strings, of which the last two are of `complete` alone:
--       complete: output, 1 if it is withheld as nobody elsewhere should want it, 1 if all that its end touches beside its
--         clients are its unique id and jid, which follow
--       fail: message, 1 if thrown, failure JSON (empty: not kept)
--       retry: message, delay (ms), failure JSON      dead: message, -, failure JSON
--       requeue: 1 if lost, most losses (0: no limit), failure JSON      requeueFront: -, -, -
--   submissions: when they came (us; empty for now), lanes, per lane: lane, queue, number of values that follow, 1 if the
--     node keeps all of them, count, per job: level, place in the order of arrival (us), 1 if foreground, door, input or the number of a
--     long one, number of values that follow (0: none), due (ms, empty for now), unique (empty for none), jid (empty for none), lock (empty for none), how long it
--     is held (ms), batch (empty for none; in a cluster the name of the note by which the submission has joined it),
--     cron entry (empty for none), its tick (ms), names and values of further fields
--   1 where the server knows all who listen, else 0; lanes on which the node listens: count, lanes
--   lanes of which the node still has jobs: number of values, per lane: lane, count, per range of ids: the first, the
--     last, 1 if a client waited for one of them, else 0
--   claims: count, per claim: by (n: named; l: named, by level; consumers: f of functions that they named, o of opened
--     lanes, a also by the automatic rule), max, how many of them are held ahead, number of groups, per group: lease (ms, empty for none), queue (its hint
--     index, empty for none), number of lanes, lanes; then number of throttles, per throttle: queue, concurrency (0:
--     any), rate (0: any), per (ms), timeout (ms, 0: none), jobs of a worker (0: any), the worker, number of lanes of
--     the groups, lanes; then number of paused lanes, lanes
-- Returns packed (where long values stand beside it: a list of it and those): when the submissions came (us); a digit per report: 1 known, 0 not; per
-- lane of outcomes an error or a digit per outcome, see outcomes.lua; per lane of submissions an error or a list, see
-- submissions.lua; per claim an error or a list: jobs, flat: lane, and a list of id, token, and fields and values of its
-- hash as they were, or, of those in a row that the node has, id, token and `enqueued` of each in one string; flat per throttle that held something back: queue, for how long
-- (ms, 0: until a job ends); 0 where a named worker would find nothing more, 2 where the claim is to go on, else 1.
--#include keys
--#include levels
--#include jobs
--#include lanes
--#include losses
--#include throttle
--#include waits
--#include packed
--#include step
--#include reports
--#include outcomes
--#include submissions
--#include leases
--#include lines
--#include claims
sequence = given[5]
local reported, ended, submitted, claimed = {}, {}, {}, {}

local reports, at = given[7], 8
local outcomesAt = at + 6 * reports
-- Known before the first event is published: the lanes that this node listens to.
local function skipOutcomes(from)
  local lanes = given[from]
  from = from + 1
  for _ = 1, lanes do from = from + 3 + 8 * given[from + 2] end
  return from
end
local submissionsAt = skipOutcomes(outcomesAt)
local listensAt = submissionsAt + 2
for _ = 1, given[submissionsAt + 1] do listensAt = listensAt + 3 + given[listensAt + 2] end
local listens = given[listensAt + 1]
if given[listensAt] == 1 then
  ownLanes = {}
  for index = listensAt + 2, listensAt + 1 + listens do ownLanes[given[index]] = true end
end
at = listensAt + 2 + listens
local claimsAt = at + 1 + given[at]
hasClaims = given[claimsAt] > 0
at = at + 1
while at < claimsAt do
  keptAt[given[at]] = at + 1
  at = at + 2 + 3 * given[at + 1]
end
at = 8

for index = 1, reports do
  reported[index] = guarded(report, unpack(given, at, at + 5)) == 1 and 1 or 0
  at = at + 6
end

at = outcomesAt + 1
for index = 1, given[outcomesAt] do
  local lane, queue, count = unpack(given, at, at + 2)
  ended[index] = guarded(endLane, lane, queue, count, at + 3)
  at = at + 3 + 8 * count
end

local arrivedUs = given[submissionsAt]
if arrivedUs == '' then arrivedUs = nowMicros end
at = submissionsAt + 2
for index = 1, given[submissionsAt + 1] do
  local lane, queue, values, isKept, count = unpack(given, at, at + 4)
  submitted[index] = guarded(submitLane, lane, queue, isKept, count, at + 5, arrivedUs)
  at = at + 3 + values
end

dropInputs(given[6])
at = claimsAt + 1
for index = 1, given[claimsAt] do claimed[index], at = takeClaim(at) end
reply[1] = cmsgpack.pack({ arrivedUs, table.concat(reported), ended, submitted, claimed })
return #reply > 1 and reply or reply[1]
