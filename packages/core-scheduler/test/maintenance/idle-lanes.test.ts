import { beforeEach, describe, expect, test } from 'vitest'
import { IdleLanes } from '../../src/maintenance/idle-lanes.ts'
import { LaneNames } from '../../src/model/lanes.ts'
import { LaneRegistry, maxLanes } from '../../src/model/lane-registry.ts'
import { ManualClock } from '../../src/manual-clock.ts'

const times = { unusedMs: 60_000, emptiedMs: 600_000, keptMs: 7 * 24 * 3_600_000 }

describe('unused lanes', () => {
  let registry: LaneRegistry
  let looks: { readonly lanes: readonly string[]; readonly idle: unknown }[]
  let over: ReadonlySet<string>
  let full: ReadonlySet<string>
  let registered: string[]
  let idle: IdleLanes
  let clock: ManualClock

  beforeEach(() => {
    registry = new LaneRegistry(new LaneNames())
    looks = []
    over = full = new Set()
    registered = []
    const lanes = {
      giveBack: (some: readonly string[], idleFor: unknown) => {
        looks.push({ lanes: some, idle: idleFor })
        const given = some.filter((lane) => over.has(lane))
        return Promise.resolve(new Map(given.map((lane) => [lane, registry.numberOf(lane)])))
      },
      nonEmpty: (some: readonly string[]) => Promise.resolve(some.filter((lane) => full.has(lane))),
    }
    const registrar = {
      register: (lane: string) => Promise.resolve(registered.push(lane)),
      dropped: (lane: string, number: number) => void registry.remove(lane, number),
    }
    clock = new ManualClock()
    const parts = { store: { lanes }, registrar, registry, clock }
    idle = new IdleLanes(parts as unknown as ConstructorParameters<typeof IdleLanes>[0])
  })

  async function look(...lanes: string[]): Promise<void> {
    await idle.look(lanes)
  }

  function know(lanes: number): void {
    for (let at = 1; at <= lanes; at += 1) registry.add(`f${at}`, at)
  }

  test('are those that are looked at', async () => {
    know(3)
    await look('f1', 'f3')
    expect(looks).toEqual([{ lanes: ['f1', 'f3'], idle: times }])
  })

  /** Lanes that are looked at after so many milliseconds. */
  async function lookedAfter(ms: number): Promise<readonly string[]> {
    looks = []
    await clock.advance(ms)
    await look()
    return looks.flatMap((one) => one.lanes)
  }

  test('are looked at twice a minute after they came, and twice eleven minutes later', async () => {
    know(3)
    idle.moved('f2', true)
    expect(await lookedAfter(60_000)).toEqual([])
    expect(await lookedAfter(1_000)).toEqual(['f2'])
    expect(await lookedAfter(60_000)).toEqual([])
    expect(await lookedAfter(1_000)).toEqual(['f2'])
    expect(await lookedAfter(500_000)).toEqual([])
    expect(await lookedAfter(38_000)).toEqual(['f2'])
    expect(await lookedAfter(660_000)).toEqual(['f2'])
    expect(await lookedAfter(660_000)).toEqual([])
  })

  test('are looked at four at a time, or all within ten minutes', async () => {
    know(9_000)
    for (let at = 1; at <= 40; at += 1) idle.moved(`f${at}`, false)
    expect(await lookedAfter(660_000)).toEqual(['f1', 'f2', 'f3', 'f4'])
    for (let at = 1; at <= 9_000; at += 1) idle.moved(`f${at}`, false)
    expect(await lookedAfter(660_000)).toHaveLength(15)
  })

  test('are looked at in turn, 256 at a time, where more than half of the numbers are taken', async () => {
    know(maxLanes / 2)
    expect(await lookedAfter(1_000)).toEqual([])
    registry.add('one-more', maxLanes)
    const seen = new Set<string>()
    for (let beat = 0; beat < 129; beat += 1) {
      const lanes = await lookedAfter(1_000)
      expect(lanes.length).toBeLessThanOrEqual(256)
      for (const lane of lanes) seen.add(lane)
    }
    expect(seen.size).toBe(maxLanes / 2 + 1)
  })

  test('make room for new ones', async () => {
    know(3)
    over = new Set(['f2'])
    await look('f1', 'f2', 'f3')
    expect([...registry.all()]).toEqual(['f1', 'f3'])
  })

  test('are registered again if a job came as they were given back', async () => {
    know(3)
    over = new Set(['f1', 'f2'])
    full = new Set(['f2', 'f3'])
    await look('f1', 'f2', 'f3')
    expect(registered).toEqual([])
    await look('f3')
    expect(registered).toEqual(['f2'])
    await look('f3')
    expect(registered).toEqual(['f2'])
  })
})
