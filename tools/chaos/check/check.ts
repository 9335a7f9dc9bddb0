import type { History, Run } from '../log/histories.ts'
import { isUnfinished, type Snapshot, type StoredJob } from '../world/store-view.ts'
import { isUnstored, maxTouched, touches, type Fault, type Slots, type Unstored } from './faults.ts'
import { earlyCallbacks, endOf, overLimits, sharedLocks, withCallbacks } from './terms.ts'
import type { Verdict } from './verdict.ts'

export interface Evidence {
  readonly history: History
  readonly snapshot: Snapshot
  readonly faults: readonly Fault[]
  readonly slots: Slots
  /** Slowness of this machine against an idle one. 1. */
  readonly slowness?: number
  /** Findings of the store's invariant check. */
  readonly invariants: readonly string[]
  /** Figures that disagree. */
  readonly figures: readonly string[]
  /** Dead workers after which a job is given up; 0: never. */
  readonly maxLosses: number
  /** Acknowledged jobs that a fault of the store may cost. None. */
  readonly unstored?: Unstored
}

/** Judges a run by all logs and by the store's final contents. */
export function check(evidence: Evidence): Verdict {
  const { history, snapshot, faults, slots, invariants, figures, slowness = 1 } = evidence
  const runs = runsByKey(history.runs)
  const finished = new Set(history.runs.filter(isFinished).map(({ key }) => key))
  const touched = new Set(
    history.runs.filter((run) => faults.some((fault) => touches(fault, run, slowness))),
  )
  // A native worker sets its result's retention itself, after the result: it may die in between.
  const unexpiring = new Set(
    [...touched].filter(({ via }) => via === 'store').map(({ key }) => key),
  )
  const unstored = withCallbacks(history, unstoredJobs(evidence))
  const givenUp = withCallbacks(history, jobsGivenUp(evidence, runs, finished))
  const lost = lostJobs(evidence, givenUp, runs, finished)
  const gone = new Set([...unstored, ...givenUp])
  const repeated = [...runs.values()].filter((some) => some.length > 1)
  return {
    acknowledged: history.acknowledged.size,
    run: finished.size,
    lost: lost.filter(({ key }) => !unstored.has(key)).map(({ finding }) => finding),
    forfeited: lost.filter(({ key }) => unstored.has(key)).length,
    forfeitedBound: unstored.size,
    unexpected: [...runs.keys()].filter((key) => !history.attempted.has(key)),
    stuck: [
      ...snapshot.leftovers,
      ...snapshot.jobs.flatMap((job) => stuckJob(job, unexpiring, givenUp)),
      ...unheard(history),
    ],
    duplicates: repeated.reduce((sum, some) => sum + some.length - 1, 0),
    duplicatesBound: Math.min(touched.size, maxTouched(faults, slots)),
    unexcused: [
      ...repeated.flatMap((some) => unexcusedRuns(some, touched)),
      ...notGivenUp(evidence, runs, givenUp),
    ],
    overlaps: repeated.flatMap((some) => overlappingRuns(some, touched)),
    early: earlyCallbacks(history, gone),
    locks: sharedLocks(history, touched, unstored),
    throttles: overLimits(history, touched),
    invariants,
    figures,
  }
}

/** Jobs whose loss the settings allow. */
function unstoredJobs({ history, faults, unstored, slowness }: Evidence): ReadonlySet<string> {
  if (!unstored) return new Set()
  const jobs = [...history.acknowledged]
  return new Set(
    jobs.filter((job) => isUnstored(faults, job, unstored, slowness)).map(([key]) => key),
  )
}

function runsByKey(runs: readonly Run[]): Map<string, Run[]> {
  const byKey = new Map<string, Run[]>()
  for (const run of runs) {
    const some = byKey.get(run.key)
    if (some) some.push(run)
    else byKey.set(run.key, [run])
  }
  for (const some of byKey.values()) some.sort((a, b) => a.startMs - b.startMs)
  return byKey
}

function isFinished(run: Run): boolean {
  return run.finishMs !== undefined
}

/** Unfinished jobs that killed their limit of workers. */
function jobsGivenUp(
  { maxLosses }: Evidence,
  runs: ReadonlyMap<string, readonly Run[]>,
  finished: ReadonlySet<string>,
): string[] {
  if (maxLosses === 0) return []
  return [...runs]
    .filter(([key, some]) => !finished.has(key) && some.length >= maxLosses)
    .map(([key]) => key)
}

/** A job that was given up, and a callback that waits for one, is not lost. */
function lostJobs(
  { history, snapshot }: Evidence,
  givenUp: ReadonlySet<string>,
  runs: ReadonlyMap<string, readonly Run[]>,
  finished: ReadonlySet<string>,
): { readonly key: string; readonly finding: string }[] {
  const held = new Set(snapshot.jobs.filter(isHeld).map(({ key }) => key))
  const lost: { key: string; finding: string }[] = []
  for (const key of history.acknowledged.keys()) {
    if (finished.has(key) || held.has(key) || givenUp.has(key)) continue
    lost.push({ key, finding: `${key}, begun ${runs.get(key)?.length ?? 0} times` })
  }
  return lost
}

/** A job that killed too many workers and got another one. */
function notGivenUp(
  { maxLosses }: Evidence,
  runs: ReadonlyMap<string, readonly Run[]>,
  givenUp: ReadonlySet<string>,
): string[] {
  return [...givenUp].flatMap((key) => {
    const begun = runs.get(key)?.length ?? 0
    return begun > maxLosses ? [`${key}, begun ${begun} times and not given up`] : []
  })
}

/** True for a job in a queue, schedule, lease or the dead set. In no place, nobody will run it. */
function isHeld({ places }: StoredJob): boolean {
  return places.length > 0
}

function stuckJob(
  job: StoredJob,
  unexpiring: ReadonlySet<string>,
  givenUp: ReadonlySet<string>,
): string[] {
  const { key, lane, id, status, places, isAwaited, expires } = job
  const name = `${key} (${lane} ${id}, ${status})`
  const found: string[] = []
  if (givenUp.has(key) && places.join() === 'dead') return []
  if (places.length > 0) found.push(`${name} is in ${places.join(' and ')}`)
  else if (isUnfinished(status)) found.push(`${name} is in no place`)
  else if (!expires && !unexpiring.has(key)) found.push(`${name} is kept for ever`)
  if (isAwaited && isUnfinished(status)) found.push(`${name} is waited for`)
  return found
}

function unheard({ owed }: History): string[] {
  return [...owed].map((key) => `${key}: its client waits for the result`)
}

/**
 * Each extra run needs a run that a fault touched: the earlier one, whose lease was lost, or
 * itself, handed out by a gateway that had been thought dead.
 */
function unexcusedRuns(runs: readonly Run[], touched: ReadonlySet<Run>): string[] {
  return runs.slice(1).flatMap((run, at) => {
    const excuses = runs.slice(0, at + 2).filter((one) => touched.has(one)).length
    return excuses > at ? [] : [`${run.key} again by ${run.worker} after ${name(runs[at])}`]
  })
}

/** Runs that no fault touched had the right to their job until their end. */
function overlappingRuns(runs: readonly Run[], touched: ReadonlySet<Run>): string[] {
  return runs.slice(1).flatMap((run, at) => {
    if (touched.has(run)) return []
    const before = runs
      .slice(0, at + 1)
      .find((other) => endOf(other) > run.startMs && !touched.has(other))
    return before ? [`${run.key} by ${run.worker} while ${name(before)} ran it`] : []
  })
}

function name(run: Run | undefined): string {
  return run ? `${run.worker} (${run.via})` : 'nobody'
}
