import { lossKinds, type FaultKind } from '../world/plan.ts'
import { at, type Case } from './case.ts'
import { strayOf } from './clock.ts'
import type { History, Run } from './history.ts'

/** True if the store's clock may have come to the end of a run's lease by then. */
export function mayHaveNoLease(
  history: History,
  { startedMs, limitMs = Infinity }: Run,
  beforeMs: number,
): boolean {
  const { aheadMs } = strayOf(history, startedMs, beforeMs)
  return beforeMs - startedMs + aheadMs >= limitMs - 20
}

/** Faults with which a consumer may lose a lease before its time. */
const endsLeases: ReadonlySet<FaultKind> = new Set([...lossKinds, 'crash', 'stop', 'freeze'])

/** One lease at a time: no two runs of a job overlap without a fault, nor where a consumer is away for a moment. */
export function* oneWorkerAtATime({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.some(({ kind }) => endsLeases.has(kind))) return
  for (const [label, ran] of runs) {
    if (!/\d$/.test(label) || label.startsWith('lock')) continue
    for (const [at, run] of ran.entries()) {
      const next = ran[at + 1]
      if (!next || run.end === 'vanished') continue
      if (plan.faults.length > 0 && !run.worker.includes('consumer')) continue
      if (mayHaveNoLease(history, run, next.startedMs)) continue
      if (next.startedMs < (run.endedMs ?? Infinity)) {
        yield `${label} began at ${next.worker} while ${run.worker} had it`
      }
    }
  }
}

/** An outcome that a gateway keeps ends the job once the store is back, unless the gateway has ended. */
export function* keptOutcomesCount({ plan, history, runs }: Case): Iterable<string> {
  if (plan.faults.some(({ kind }) => endsLeases.has(kind))) return
  if (plan.changes.some(({ kind }) => kind === 'join' || kind === 'leave')) return
  for (const [label, ran] of runs) {
    if (history.jobs.get(label)?.lock !== undefined) continue
    const kept = ran.findIndex((run) => run.isKept === true && run.end === 'complete')
    const again = kept >= 0 && ran[kept + 1]
    if (again && again.startedMs > (ran[kept]?.endedMs ?? Infinity))
      yield `${label} began again at ${at(again.startedMs)}, and its gateway had kept that it was done`
  }
}
