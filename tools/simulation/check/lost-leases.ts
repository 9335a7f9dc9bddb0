import type { Plan } from '../world/plan.ts'
import { reserveForSeconds } from '../world/settings.ts'
import type { Case } from './case.ts'
import { strayOf } from './clock.ts'
import type { Submitted } from './history.ts'

/**
 * True if a lease may have been given to a gateway that had ended, so that no worker has the job until it is over. A gateway
 * that stops waits for answers; one that crashes does not.
 */
export function mayLoseLeases({ faults }: Plan): boolean {
  const has = (kind: string): boolean => faults.some((fault) => fault.kind.startsWith(kind))
  return has('crash') || (has('stop') && has('store '))
}

/** True if such a lease of the job may have been over by then: that counts as a run which failed, as at Faktory. */
export function mayHaveRunOut(
  { plan, history }: Pick<Case, 'plan' | 'history'>,
  { submittedMs }: Submitted,
  beforeMs: number,
): boolean {
  if (!mayLoseLeases(plan)) return false
  const { aheadMs } = strayOf(history, submittedMs, beforeMs)
  return beforeMs - submittedMs + aheadMs >= reserveForSeconds * 1_000
}
