import { beforeEach, describe, expect, test } from 'vitest'
import { LaneLooks } from '../../src/maintenance/lane-looks.ts'
import type { PeriodicTask } from '../../src/node/background-tasks.ts'
import { LaneNames } from '../../src/model/lanes.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'

describe('the walk through the lanes', () => {
  let registry: LaneRegistry
  let marks: Map<string, string>
  let read: number[]
  let looked: (readonly string[])[]
  let again: readonly string[]
  let recovery: { leads: boolean }
  let following: number
  let look: () => Promise<void>

  function open(isSharded = false): void {
    const lanes = {
      marks: (some: readonly string[]) => {
        read.push(some.length)
        return Promise.resolve(some.map((lane) => marks.get(lane) ?? ''))
      },
    }
    const check = {
      look: (some: readonly string[]) => {
        looked.push(some)
        return Promise.resolve(again)
      },
    }
    const tasks = { add: ({ run }: PeriodicTask) => (look = run) }
    const parts = { registry, recovery, store: { lanes, isSharded }, tasks, checks: [check] }
    const onFollowing = (): void => void (following += 1)
    new LaneLooks({ ...parts, onFollowing } as unknown as ConstructorParameters<
      typeof LaneLooks
    >[0])
  }

  beforeEach(() => {
    registry = new LaneRegistry(new LaneNames())
    marks = new Map()
    read = []
    looked = []
    again = []
    recovery = { leads: true }
    following = 0
    open()
  })

  function know(lanes: number): void {
    for (let at = 1; at <= lanes; at += 1) registry.add(`f${at}`, at)
  }

  async function pass(beats: number): Promise<void> {
    for (let beat = 0; beat < beats; beat += 1) await look()
  }

  test('takes one lane with each heartbeat while nothing moves, each in its turn', async () => {
    know(300)
    await pass(300)
    expect(looked.every(({ length }) => length === 1)).toBe(true)
    expect(new Set(looked.flat()).size).toBe(300)
  })

  test.each([
    [256, 256, 1],
    [20_000, 667, 30],
    [65_000, 2_167, 30],
  ])('reads the marks of %i lanes, %i with each heartbeat, in %i', async (lanes, max, beats) => {
    know(lanes)
    await pass(beats)
    expect(Math.max(...read)).toBe(max)
    expect(read.reduce((sum, count) => sum + count, 0)).toBe(lanes)
  })

  test('reads ten marks with each heartbeat in a cluster, where each is a command', async () => {
    open(true)
    know(20_000)
    await pass(30)
    expect(new Set(read)).toEqual(new Set([10]))
  })

  test('takes lanes first whose marks have moved, at most two at a time, and each once more', async () => {
    know(200)
    await pass(1)
    for (const lane of ['f50', 'f60', 'f70']) marks.set(lane, '1')
    looked = []
    await pass(4)
    const moved = looked.map((lanes) => lanes.filter((lane) => /^f[567]0$/.test(lane)))
    expect(moved).toEqual([['f50', 'f60'], ['f70', 'f50'], ['f60', 'f70'], []])
    expect(Math.max(...looked.map(({ length }) => length))).toBe(2)
  })

  test('takes a new lane at once, but not all lanes of a store that it begins with', async () => {
    know(200)
    await pass(2)
    registry.add('new', 201)
    looked = []
    await pass(1)
    expect(looked[0]).toContain('new')
  })

  test('sees lanes again that a check asks for', async () => {
    know(200)
    again = ['f150']
    await pass(1)
    looked = []
    again = []
    await pass(2)
    expect(looked.map((lanes) => lanes.includes('f150'))).toEqual([true, false])
  })

  test('is left to the node that leads, which begins anew', async () => {
    know(200)
    await pass(1)
    recovery.leads = false
    read = []
    looked = []
    await pass(3)
    expect([read, looked, following]).toEqual([[], [], 3])
    recovery.leads = true
    marks.set('f9', '1')
    await pass(1)
    expect(looked).toHaveLength(1)
    expect(looked[0]).not.toContain('f9')
  })
})
