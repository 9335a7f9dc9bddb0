import { describe, expect, test } from 'vitest'
import { LeaseTimers, type Leased } from '../../src/dispatch/lease-timers.ts'
import { ManualClock } from '../../src/manual-clock.ts'

describe('leases', () => {
  class Lease implements Leased {
    endedMs: number | undefined
    readonly #clock: ManualClock

    constructor(clock: ManualClock) {
      this.#clock = clock
    }

    leaseEnded(): void {
      this.endedMs = this.#clock.nowMs()
    }
  }

  test('of several lengths end at their time, and not before', async () => {
    const clock = new ManualClock()
    const timers = new LeaseTimers(clock)
    const startMs = clock.nowMs()
    const leases: { readonly lease: Lease; readonly dueMs: number }[] = []
    for (const [passMs, leaseMs] of [
      [0, 5_000],
      [10, 1_000],
      [10, 1_000],
      [0, 20],
      [500, 1_500],
    ] as const) {
      await clock.advance(passMs)
      const lease = new Lease(clock)
      timers.start(lease, leaseMs, clock.nowMs())
      leases.push({ lease, dueMs: clock.nowMs() + leaseMs })
    }
    await clock.advance(6_000)
    expect(leases.map(({ lease }) => lease.endedMs)).toEqual(leases.map(({ dueMs }) => dueMs))
    expect(clock.nowMs()).toBeGreaterThan(startMs)
  })

  test('that were stopped or restarted do not end at their old deadline', async () => {
    const clock = new ManualClock()
    const timers = new LeaseTimers(clock)
    const [stopped, renewed] = [new Lease(clock), new Lease(clock)]
    for (const lease of [stopped, renewed]) timers.start(lease, 1_000, clock.nowMs())
    await clock.advance(900)
    timers.stop(stopped, 1_000)
    timers.start(renewed, 1_000, clock.nowMs())
    const dueMs = clock.nowMs() + 1_000
    await clock.advance(5_000)
    expect(stopped.endedMs).toBeUndefined()
    expect(renewed.endedMs).toBe(dueMs)
  })

  test('do not end after they were closed', async () => {
    const clock = new ManualClock()
    const timers = new LeaseTimers(clock)
    const lease = new Lease(clock)
    timers.start(lease, 1_000, clock.nowMs())
    timers.close()
    await clock.advance(5_000)
    expect(lease.endedMs).toBeUndefined()
  })

  test('that exceed the longest timer last for their whole time', async () => {
    const clock = new ManualClock()
    const timers = new LeaseTimers(clock)
    const lease = new Lease(clock)
    const leaseMs = 2 ** 31 + 5
    const dueMs = clock.nowMs() + leaseMs
    timers.start(lease, leaseMs, clock.nowMs())
    await clock.advance(2 ** 31)
    expect(lease.endedMs).toBeUndefined()
    await clock.advance(10)
    expect(lease.endedMs).toBe(dueMs)
  })
})
