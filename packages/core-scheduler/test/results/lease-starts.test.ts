import { beforeEach, describe, expect, test } from 'vitest'
import { ActiveLeases } from '../../src/node/active-leases.ts'
import { LeaseStarts } from '../../src/results/lease-starts.ts'
import { Steps } from '../../src/node/steps.ts'
import { ManualClock } from '../../src/manual-clock.ts'
import type { StepReport } from '../../src/model/job.ts'
import { noStep } from '../../src/store/step-ports.ts'

const job = { lane: 'mail', id: 7, token: 'ca-1' }
const start = { ...job, kind: 'lease', heldMs: 3 }
/** Long enough for whatever is armed. */
const longMs = 5_000

describe('the start of a prefetched lease', () => {
  let clock: ManualClock
  let starts: LeaseStarts
  /** Reports that the store got. */
  let stored: StepReport[]
  let isAway: boolean
  beforeEach(() => {
    clock = new ManualClock()
    stored = []
    isAway = false
    const step = (of: { readonly reports: readonly StepReport[] }) => {
      if (isAway) return Promise.reject(new Error('away'))
      stored.push(...of.reports)
      return Promise.resolve({ ...noStep, reports: of.reports.map(() => true) })
    }
    const store = { isSharded: false, steps: { step } }
    const steps = new Steps({ store, clock } as unknown as ConstructorParameters<typeof Steps>[0])
    const activeLeases = new ActiveLeases()
    activeLeases.add({ job, sinceMs: 0 } as Parameters<ActiveLeases['add']>[0])
    starts = new LeaseStarts({ clock, steps, activeLeases })
    steps.takeFrom(starts)
  })

  test('is stored once, with the first step after it', async () => {
    starts.add(job, 3)
    await clock.advance(longMs)
    expect(stored).toEqual([start])
  })

  test('is not stored where the store takes the outcome', async () => {
    starts.add(job, 3)
    starts.ending(job.token)
    starts.ended(job.token)
    await clock.advance(longMs)
    expect(stored).toEqual([])
  })

  test('is stored without another job coming where the store refuses the outcome', async () => {
    starts.add(job, 3)
    starts.ending(job.token)
    // The timer of the start passes while the outcome is on its way.
    await clock.advance(longMs)
    expect(stored).toEqual([])
    starts.notEnded(job.token)
    await clock.advance(longMs)
    expect(stored).toEqual([start])
  })

  test('is sent again where the store was away', async () => {
    isAway = true
    starts.add(job, 3)
    await clock.advance(100)
    isAway = false
    await clock.advance(longMs)
    expect(stored).toEqual([start])
  })

  test('is stored before the node leaves, with an outcome on its way as well', async () => {
    starts.add(job, 3)
    starts.ending(job.token)
    await Promise.all([starts.settle(), clock.turn()])
    expect(stored).toEqual([start])
  })
})
