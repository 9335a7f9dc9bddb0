import type { FaultKind, Plan } from '../world/plan.ts'
import { possibleRetries } from '../world/settings.ts'
import { mayExpire, nothingExpiresEarly, nothingRunsTooLate } from './expiry.ts'
import { actsOn, areOne, isTaken } from './acts.ts'
import { callbacksAreLast } from './batches.ts'
import { deathsAreTold } from './deaths.ts'
import { at, type Case, type Rule, type Runs } from './case.ts'
import { strayOf } from './clock.ts'
import type { History, Run, Submitted } from './history.ts'
import { keptOutcomesCount, mayHaveNoLease, oneWorkerAtATime } from './leases.ts'
import { mayLoseLeases } from './lost-leases.ts'
import { mayBeLost } from './losses.ts'
import { idleWorkersBeginAtOnce, nobodyRunsForNobody, nobodyWaitsInVain } from './waiting.ts'
import { endedJobsStayEnded, movedJobsHaveTheirQueue, uniqueJobsAreOne } from './operators.ts'
import { isFinished, isLate } from './runs.ts'

/** Retries of a Faktory job without the field. */
const manyRetries = 25

/** An end that the store can have had after the job was submitted: it takes its way, and faults take their time. */
const endsAfter = ({ endedMs = 0 }: Run, { submittedMs }: Submitted, { faults }: Plan): boolean =>
  endedMs + (faults.length === 0 ? 50 : 7_000) >= submittedMs

/** A run that counts as a failure, or may. */
const isFailed = (run: Run): boolean =>
  run.end !== 'complete' || isLate(run) || run.settled === 'no' || run.settled === 'unknown'

/** A node that is silent for longer may count as dead, and its clients as gone, milliseconds. */
const deadAfterMs = 2_000

/** True if a client may hear that its job has failed though none has run it: its gateway counted as dead. */
function mayFailUnrun({ faults }: Plan, job: Submitted, ran: readonly Run[]): boolean {
  const { words, submittedMs } = job
  const isFailed = words[0]?.kind === 'fail'
  const awayMs = faults.reduce((sum, { forMs }) => sum + forMs, 0)
  const mayBeLost = faults.some(({ kind }) => kind === 'crash')
  // The end of a run comes to nothing at a gateway that counts as dead.
  const isHeard = ({ endedMs = Infinity }: Run): boolean =>
    endedMs >= submittedMs &&
    !faults.some(
      ({ atMs, forMs }) => forMs >= deadAfterMs && endedMs >= atMs && endedMs <= atMs + forMs,
    )
  const hasEnded = ran.some((run) => isFinished(run) && isHeard(run))
  return isFailed && awayMs >= deadAfterMs && (mayBeLost || !hasEnded)
}

/** True for a job that may fail once: it is over with a lease that nobody had, as with any lost worker's. */
const mayEndWithItsLease = (plan: Plan, { retries = 1 }: Submitted): boolean =>
  retries <= 0 && mayLoseLeases(plan)

/** Retries that a Faktory job may have: its own, or those of a route. */
const retriesOf = (plan: Plan, { fn, retries }: Submitted): readonly number[] =>
  retries === undefined ? possibleRetries(plan, fn, manyRetries) : [retries]

/** Each accepted job has run to an end, or its client left before. */
function* everyJobEnds(one: Case): Iterable<string> {
  const { plan, history, runs, endMs } = one
  for (const job of history.jobs.values()) {
    if (job.answer !== 'accepted' || job.lock !== undefined || mayBeLost(history, job)) continue
    if (isTaken(history, job, ['ends', 'kills']) || mayExpire(one, job, endMs)) continue
    const ran = runsOf(job, history, runs)
    if (job.foreground && (job.isDeserted || mayFailUnrun(plan, job, ran))) continue
    const isDead =
      job.door === 'faktory' &&
      ran.filter(isFailed).length > Math.max(Math.min(...retriesOf(plan, job)), 0)
    if (mayEndWithItsLease(plan, job)) continue
    if (!isDead && !ran.some((run) => isFinished(run) && endsAfter(run, job, plan))) {
      yield `${job.label} was accepted at ${at(job.answeredMs)}, and no run of it has ended`
    }
  }
}

/** Faults under which the data of a result arrives: it is not stored, and goes through one gateway. */
const losesNoData: ReadonlySet<FaultKind> = new Set(['freeze', 'late calls'])

/** A client that waits has one last word, which a worker has sent. */
function* waitingClientsHear({ plan, history, runs }: Case): Iterable<string> {
  for (const job of history.jobs.values()) {
    if (!job.foreground || job.answer !== 'accepted' || job.isDeserted) continue
    const [word, ...more] = job.words
    if (!word) yield `${job.by} waits for ${job.label} for ever`
    if (more.length > 0) yield `${job.by} heard ${job.words.length} last words of ${job.label}`
    if (!word) continue
    const ran = runsOf(job, history, runs)
    const isSaid = ran.some(({ end, output, endedMs }) => {
      if (endedMs === undefined || endedMs > word.atMs) return false
      if (word.kind === 'complete')
        return end === 'complete' && (word.data === output || word.data === '')
      return end === 'fail' || end === 'exception'
    })
    const mayHaveGone = word.kind === 'fail' && mayBeLost(history, job)
    const isTold = word.kind === 'fail' && isTaken(history, job, ['ends', 'kills'], word.atMs)
    if (!isSaid && !isTold && !mayHaveGone && !mayFailUnrun(plan, job, ran))
      yield `${job.by} heard ${word.kind} ${word.data} of ${job.label}, which no worker had said`
    if (!plan.faults.every(({ kind }) => losesNoData.has(kind))) continue
    const said = ran.find(({ output }) => output === word.data)
    const missing = (said && !said.hasError ? said.data : []).filter(
      (data) => !job.data.includes(data),
    )
    const joinedLate = said && (job.answeredMs ?? Infinity) > said.startedMs
    if (missing.length > 0 && !joinedLate)
      yield `${job.by} never heard ${missing.join(', ')} of ${job.label}, and its last word`
  }
}

/** An outcome is at the store so much later without faults, milliseconds. */
const onItsWayMs = 50

/** A job runs again only where a run of it was lost, failed, or not heard. */
function* nothingRunsTwice({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.length > 0) return
  for (const [label, ran] of runs) {
    const job = history.jobs.get(label)
    if (!job || job.answer !== 'accepted') continue
    const others = ran.slice(0, -1)
    const unexplained = others.find(
      (run) =>
        run.end === 'complete' &&
        isFinished(run) &&
        run.settled !== 'unknown' &&
        !mayHaveNoLease(history, run, (run.endedMs ?? 0) + onItsWayMs),
    )
    if (unexplained) yield `${label} ran again after run ${unexplained.number} had completed`
  }
}

/** A job that was refused, and surely not stored, does not run. */
function* nothingRefusedRuns({ history, runs }: Case): Iterable<string> {
  for (const { label, answer, answeredMs } of history.jobs.values())
    if (answer === 'refused' && runs.has(label))
      yield `${label} ran, and was refused at ${at(answeredMs)}`
}

/** Nothing runs before its time. */
function* nothingIsEarly({ history, runs }: Case): Iterable<string> {
  for (const job of history.jobs.values()) {
    const [first] = runs.get(job.label) ?? []
    if (job.dueAtMs === undefined || !first) continue
    if (isTaken(history, job, ['queues'], first.startedMs)) continue
    // A dead job that is moved is queued.
    const kinds = ['kills', 'moves'] as const
    if (kinds.every((kind) => isTaken(history, job, [kind], first.startedMs))) continue
    const { aheadMs } = strayOf(history, job.submittedMs, first.startedMs)
    if (first.startedMs < job.dueAtMs - aheadMs - 2)
      yield `${job.label} ran at ${at(first.startedMs)}, and was due at ${at(job.dueAtMs)}`
  }
}

/** A failed job is retried as often as it says. */
function* retriesHold({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.length > 0) return
  for (const job of history.jobs.values()) {
    if (job.door !== 'faktory' || job.lock !== undefined || job.answer !== 'accepted') continue
    if (isTaken(history, job, ['queues', 'moves'])) continue
    const retries = Math.max(...retriesOf(plan, job))
    const failed = (runs.get(job.label) ?? []).filter(
      (run) =>
        (run.end === 'fail' || run.end === 'exception') && run.settled !== 'no' && !isLate(run),
    )
    const bound = Math.max(retries, 0) + 1
    if (failed.length > bound)
      yield `${job.label} failed ${failed.length} times, and may ${bound} times`
  }
}

/** A lock is free again only when its job has ended. It is of a lane, and each reload changes home queues, so lanes. */
function* locksAreHeldOnce({ plan, history, runs }: Case): Iterable<string> {
  const reloads = plan.changes.filter(({ kind }) => kind === 'reload')
  const homesAt = (ms: number): number => reloads.filter(({ atMs }) => atMs <= ms).length % 2
  const byLock = groupBy(
    [...history.jobs.values()].filter(
      (job) => job.lock !== undefined && job.answer === 'accepted' && !mayBeLost(history, job),
    ),
    ({ lock = '', submittedMs }) => `${homesAt(submittedMs)} ${lock}`,
  )
  for (const [lock, jobs] of byLock) {
    const key = lock.split(' ').at(-1) ?? ''
    const ends = (runs.get(key) ?? []).filter(isFinished).map(({ endedMs }) => endedMs ?? Infinity)
    jobs.sort((one, other) => one.submittedMs - other.submittedMs)
    for (const [before, job] of jobs.entries()) {
      const taken = jobs
        .slice(0, before)
        .filter((former) => isTaken(history, former, ['ends', 'moves'], job.answeredMs))
      const ended = ends.filter((endedMs) => endedMs < (job.answeredMs ?? 0)).length + taken.length
      if (ended < before)
        yield `${job.label} got lock ${lock}, which ${before} jobs had and ${ended} had ended`
    }
  }
}

/** So much earlier may a later job of a line begin, milliseconds: prefetched jobs, and ways of different length. */
const orderSlackMs = 60

/** Jobs of one function and level begin in the order in which they came. */
function* linesAreInOrder({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.length > 0 || plan.hasThrottles) return
  const lined = [...history.jobs.values()].filter((job) => {
    const { answer, dueAtMs, unique, door, isDeserted } = job
    return (
      answer === 'accepted' &&
      actsOn(history, job, ['ends', 'queues', 'moves']).length === 0 &&
      dueAtMs === undefined &&
      unique === undefined &&
      door === 'gearman' &&
      !isDeserted
    )
  })
  for (const [, jobs] of groupBy(lined, ({ fn, level }) => `${fn} ${level}`)) {
    jobs.sort((one, other) => one.submittedMs - other.submittedMs)
    for (const [place, job] of jobs.entries()) {
      const beganMs = runs.get(job.label)?.[0]?.startedMs ?? Infinity
      const { answeredMs = 0 } = job
      if (history.lostWorkersMs.some((ms) => ms > answeredMs && ms < beganMs)) continue
      const later = jobs.slice(place + 1).find(({ label, submittedMs }) => {
        const otherMs = runs.get(label)?.[0]?.startedMs ?? Infinity
        return submittedMs > (job.answeredMs ?? Infinity) && otherMs < beganMs - orderSlackMs
      })
      if (later) yield `${later.label} began before ${job.label}, which had come before it`
    }
  }
}

/** Runs of a job, also under the labels of jobs that it was joined with. */
function runsOf(job: Submitted, history: History, runs: Runs): readonly Run[] {
  const own = runs.get(job.label) ?? []
  if (job.unique === undefined) return own
  const joined = [...history.jobs.values()].filter((other) => areOne(job, other))
  return joined.flatMap(({ label }) => runs.get(label) ?? [])
}

function groupBy<One, Key>(all: readonly One[], keyOf: (one: One) => Key): Map<Key, One[]> {
  const groups = new Map<Key, One[]>()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return groups
}

const rules: readonly Rule[] = [
  everyJobEnds,
  waitingClientsHear,
  nothingRunsTwice,
  oneWorkerAtATime,
  keptOutcomesCount,
  nothingRefusedRuns,
  nothingIsEarly,
  retriesHold,
  locksAreHeldOnce,
  callbacksAreLast,
  deathsAreTold,
  nothingExpiresEarly,
  nothingRunsTooLate,
  endedJobsStayEnded,
  movedJobsHaveTheirQueue,
  uniqueJobsAreOne,
  linesAreInOrder,
  nobodyWaitsInVain,
  idleWorkersBeginAtOnce,
  nobodyRunsForNobody,
]

/** All that is wrong with a world that has come to rest: empty if nothing. */
export function verdictOf(plan: Plan, history: History, endMs: number): readonly string[] {
  const runs = groupBy(history.runs, ({ label }) => label)
  return rules.flatMap((rule) => [...rule({ plan, history, runs, endMs })])
}
