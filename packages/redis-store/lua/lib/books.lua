-- The counters of a lane. What ends a job, or moves it for an operator, counts it here in the same step.

-- Their order is that of calls in a cluster: new ones come last.
-- stylua: ignore
Books.counters = { 'submitted', 'completed', 'failed', 'retried', 'expired', 'promoted', 'requeued', 'forgotten',
  'died', 'lost', 'cancelled', 'deleted', 'moved', 'rerun', 'killed' }

function Books.book(lane, counter, jobs)
  if jobs > 0 then redis.call('HINCRBY', Keys.meta(lane), counter, jobs) end
end

-- Dead jobs that are kept no longer: they have failed, and nothing shows them any more.
function Books.bookForgotten(lane, jobs)
  Books.book(lane, 'failed', jobs)
  Books.book(lane, 'forgotten', jobs)
end

-- Jobs that an operator took away: `as` is cancelled, deleted, moved or withdrawn. Another lane has counted those that were
-- moved; withdrawn ones were copies.
function Books.bookTaken(lane, as, jobs)
  if as ~= 'withdrawn' then Books.book(lane, as, jobs) end
  if jobs > 0 and (as == 'moved' or as == 'withdrawn') then
    redis.call('HINCRBY', Keys.meta(lane), 'submitted', -jobs)
  end
end
