import type { History, Run } from '../log/histories.ts'
import { touches, type Fault } from './faults.ts'

/** Counts expected of the gateways, by the logs. */
export interface Counted {
  readonly history: History
  readonly faults: readonly Fault[]
  /** Probe jobs, each of which a gateway may have taken and seen done. */
  readonly probes: number
  /** Dead workers after which a job is given up; 0: never. */
  readonly maxLosses: number
  readonly slowness: number
}

/** Doors whose clients are counted, by the names of their clients. */
const doors = ['gearman', 'faktory', 'native'] as const
type Door = (typeof doors)[number]

/** The door of probe jobs. */
const ownDoor: Door = 'gearman'

type Range = readonly [min: number, max: number]
type Expectation = (counted: Counted, door: Door) => Range

/** The expected value of each counter for the jobs of a door. */
const expectations: Readonly<Record<string, Expectation>> = {
  crossgear_jobs_submitted_total({ history, probes }, door) {
    // Native clients ask no gateway.
    if (door === 'native') return [0, 0]
    // The store itself pushes callbacks of batches.
    const isSubmitted = (key: string): boolean =>
      isOf(door, key) && history.terms.get(key)?.kind !== 'after'
    const acknowledged = [...history.acknowledged.keys()].filter(isSubmitted).length
    // A submission without an answer counts if it came through.
    const attempted = [...history.attempted].filter(isSubmitted).length
    return [acknowledged, attempted + (door === ownDoor ? probes : 0)]
  },
  crossgear_jobs_completed_total({ history, faults, probes, slowness }, door) {
    const ended = history.runs.filter((run) => run.finishMs !== undefined && isOf(door, run.key))
    // A native worker's outcome goes to the store: some gateway notices it, unless it is away.
    const isSure = (run: Run): boolean =>
      run.via !== 'store' && !faults.some((fault) => touches(fault, run, slowness))
    // A run touched by a fault may have ended unnoticed, or after its job was reassigned.
    const sure = new Set(ended.filter(isSure).map(({ key }) => key)).size
    return [sure, ended.length + (door === ownDoor ? probes : 0)]
  },
  crossgear_jobs_failed_total({ history, maxLosses }, door) {
    if (maxLosses === 0) return [0, 0]
    return [0, [...history.attempted].filter((key) => isOf(door, key)).length]
  },
}

/** The counters that are compared. */
export const comparedCounters: readonly string[] = Object.keys(expectations)

/**
 * Compares the gateways' counters with the logs.
 * @param figures by counter and door, such as `crossgear_jobs_failed_total gearman`
 */
export function compareFigures(figures: ReadonlyMap<string, number>, counted: Counted): string[] {
  return Object.entries(expectations).flatMap(([name, expected]) =>
    doors.flatMap((door) => {
      const figure = figures.get(`${name} ${door}`) ?? 0
      const [min, max] = expected(counted, door)
      if (figure >= min && figure <= max) return []
      return [`${name} of ${door} is ${figure}, the logs say ${min} to ${max}`]
    }),
  )
}

function isOf(door: Door, key: string): boolean {
  return (/^client-(\w+)-/.exec(key)?.[1] ?? ownDoor) === door
}
