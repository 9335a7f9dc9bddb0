import { beforeEach, describe, expect, test } from 'vitest'
import { IdleLanes } from '../../src/maintenance/idle-lanes.ts'
import { LaneNames } from '../../src/model/lanes.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'

const weekMs = 7 * 24 * 3_600_000
const beatsOfAnHour = 3_600

describe('unused lanes', () => {
  let registry: LaneRegistry
  let looks: { readonly lanes: readonly string[]; readonly idleForMs: number }[]
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
      giveBack: (some: readonly string[], idleForMs: number) => {
        looks.push({ lanes: some, idleForMs })
        return Promise.resolve(some.filter((lane) => over.has(lane)))
      },
      nonEmpty: (some: readonly string[]) => Promise.resolve(some.filter((lane) => full.has(lane))),
    }
    const registrar = { register: (lane: string) => Promise.resolve(registered.push(lane)) }
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

  test.each([10, 65_536])(
    'of %i are all looked for within an hour, after 7 days',
    async (lanes) => {
      know(lanes)
      await pass(beatsOfAnHour)
      expect(new Set(looks.flatMap((look) => look.lanes)).size).toBe(lanes)
      expect(new Set(looks.map(({ idleForMs }) => idleForMs))).toEqual(new Set([weekMs]))
    },
  )

  test('are left to the node that leads', async () => {
    know(3)
    over = new Set(['f2'])
    recovery.leads = false
    await pass(beatsOfAnHour)
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
