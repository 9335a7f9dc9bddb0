-- The counters of a lane. What ends a job, or moves it for an operator, counts it here in the same step. Needs keys.lua.

-- Their order is that of calls in a cluster: new ones come last.
-- stylua: ignore
local counters = { 'submitted', 'completed', 'failed', 'retried', 'expired', 'promoted', 'requeued', 'forgotten',
  'died', 'lost', 'cancelled', 'deleted', 'moved', 'rerun', 'killed' }

local function book(lane, counter, jobs)
  if jobs > 0 then redis.call('HINCRBY', metaKey(lane), counter, jobs) end
end

-- Dead jobs that are kept no longer: they have failed, and nothing shows them any more.
local function bookForgotten(lane, jobs)
  book(lane, 'failed', jobs)
  book(lane, 'forgotten', jobs)
end

-- Jobs that an operator took away: `as` is cancelled, deleted, moved or withdrawn. Another lane has counted those that were
-- moved; withdrawn ones were copies.
local function bookTaken(lane, as, jobs)
  if as ~= 'withdrawn' then book(lane, as, jobs) end
  if jobs > 0 and (as == 'moved' or as == 'withdrawn') then redis.call('HINCRBY', metaKey(lane), 'submitted', -jobs) end
end
