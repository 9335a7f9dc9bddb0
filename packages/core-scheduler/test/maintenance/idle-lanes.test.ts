import { beforeEach, describe, expect, test } from 'vitest'
import { IdleLanes } from '../../src/maintenance/idle-lanes.ts'
import { LaneNames } from '../../src/model/lanes.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'

const times = { unusedMs: 60_000, emptiedMs: 600_000, keptMs: 7 * 24 * 3_600_000 }
const beatsOfARound = 60

describe('unused lanes', () => {
  let registry: LaneRegistry
  let looks: { readonly lanes: readonly string[]; readonly idle: unknown }[]
  let over: ReadonlySet<string>
  let full: ReadonlySet<string>
  let registered: string[]
  let recovery: { leads: boolean }
  let idle: IdleLanes

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
    recovery = { leads: true }
    const parts = { registry, store: { lanes }, registrar, recovery }
    idle = new IdleLanes(parts as unknown as ConstructorParameters<typeof IdleLanes>[0])
  })

  async function pass(beats: number): Promise<void> {
    for (let beat = 0; beat < beats; beat += 1) await idle.run()
  }

  function know(lanes: number): void {
    for (let at = 1; at <= lanes; at += 1) registry.add(`f${at}`, at)
  }

  test.each([
    [10, 1],
    [65_536, 60],
  ])('of %i are all looked for within two minutes, in %i checks a round', async (lanes, checks) => {
    know(lanes)
    await pass(2 * beatsOfARound - 1)
    expect(new Set(looks.flatMap((look) => look.lanes)).size).toBe(lanes)
    expect(looks).toHaveLength(checks)
    expect(looks[0]?.idle).toEqual(times)
  })

  test('are left to the node that leads', async () => {
    know(3)
    over = new Set(['f2'])
    recovery.leads = false
    await pass(beatsOfARound)
    expect(looks).toEqual([])
    recovery.leads = true
    await pass(60)
    expect([...registry.all()]).toEqual(['f1', 'f3'])
  })

  test('make room for new ones', async () => {
    know(3)
    over = new Set(['f2'])
    await pass(60)
    expect([...registry.all()]).toEqual(['f1', 'f3'])
  })

  test('are registered again if a job came as they were given back', async () => {
    know(3)
    over = new Set(['f1', 'f2'])
    full = new Set(['f2', 'f3'])
    await pass(60)
    expect(registered).toEqual([])
    await pass(1)
    expect(registered).toEqual(['f2'])
    await pass(1)
    expect(registered).toEqual(['f2'])
  })
})
