import type { Run } from '../log/histories.ts'

/**
 * A fault of the system and its time, milliseconds of the common clock; it ends when the system
 * serves again. The subject is a worker's name, a gateway's name, or `store`.
 */
export interface Fault {
  readonly what: string
  readonly subject: string
  readonly fromMs: number
  readonly toMs: number
  /** Number of blows in that time. 1. */
  readonly times?: number
}

/** Jobs that one worker, or all, may hold at a time, by the subject of a fault. */
export type Slots = (subject: string) => number

/** A held job, and one reported a moment ago: a blow can cost a worker both. */
const perSlot = 2

/** Most runs that the faults can have cost, however long they took. */
export function maxTouched(faults: readonly Fault[], slots: Slots): number {
  return faults.reduce((sum, { subject, times = 1 }) => sum + perSlot * slots(subject) * times, 0)
}

/** Reports this long before a fault may not be stored, milliseconds. */
const beforeMs = 1_000
/** Latest start of a job handed out before a fault, milliseconds. */
const afterMs = 1_500

/**
 * True if a fault may have cost a run its lease, or its outcome. A dead gateway costs its Gearman
 * workers their jobs; a Faktory worker's lease stands.
 */
export function touches(fault: Fault, run: Run, slowness = 1): boolean {
  if (!isSubject(fault.subject, run)) return false
  const endMs = run.finishMs ?? Infinity
  return (
    run.startMs <= fault.toMs + afterMs * slowness && endMs >= fault.fromMs - beforeMs * slowness
  )
}

/** A store may acknowledge a moment after it stored, milliseconds. */
const toldWithinMs = 1_000

/** Acknowledged jobs that may be lost under the settings. */
export interface Unstored {
  /** Jobs acknowledged within this many milliseconds before a fault of the store. */
  readonly withinMs: number
  /** Jobs of native programs as well that were acknowledged this many after its begin. As long as others. */
  readonly nativeToldWithinMs?: number
  /** Only jobs of the client with this name. All. */
  readonly of?: string
}

/** True if a job acknowledged at that time may be lost. */
export function isUnstored(
  faults: readonly Fault[],
  [key, acknowledgedMs]: readonly [key: string, acknowledgedMs: number],
  { withinMs, nativeToldWithinMs = toldWithinMs, of = '' }: Unstored,
  slowness = 1,
): boolean {
  const toldMs = key.startsWith('client-native') ? nativeToldWithinMs : toldWithinMs
  return faults.some(
    ({ subject, fromMs }) =>
      subject === 'store' &&
      key.startsWith(of) &&
      acknowledgedMs >= fromMs - withinMs &&
      acknowledgedMs <= fromMs + toldMs * slowness,
  )
}

function isSubject(subject: string, { worker, via }: Run): boolean {
  if (subject === 'store' || subject === worker) return true
  return via === `gearman:${subject}`
}
