import { describe, expect, test } from 'vitest'
import { LaneNames } from '../../src/model/lanes.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'
import { Healer } from '../../src/maintenance/healer.ts'

interface Look {
  readonly extent: string
  readonly lanes: readonly string[]
}

/** Looks of a healer, by beat, and which of them it judged stranded lanes by. */
async function looksOf(lanes: number, beats: number) {
  const registry = new LaneRegistry(new LaneNames())
  for (let at = 1; at <= lanes; at += 1) registry.add(`f${at}`, at)
  const found: Look[][] = []
  const judged: number[] = []
  const heal = (some: readonly string[], extent = 'all'): Promise<readonly string[]> => {
    found.at(-1)?.push({ extent, lanes: some })
    return Promise.resolve([])
  }
  const parts = {
    registry,
    store: { lanes: { heal } },
    bridging: { looked: (some: readonly string[]) => judged.push(some.length) },
    tasks: { time: (_name: string, run: () => Promise<void>) => run() },
  }
  const healer = new Healer(parts as unknown as ConstructorParameters<typeof Healer>[0])
  for (let beat = 0; beat < beats; beat += 1) {
    found.push([])
    await healer.run()
  }
  return { found, judged }
}

const seen = (looks: readonly Look[], extent: string): number =>
  new Set(looks.filter((look) => look.extent === extent).flatMap(({ lanes }) => lanes)).size

describe('the healer', () => {
  test('checks 2,000 lanes with every heartbeat', async () => {
    const { found, judged } = await looksOf(2_000, 2)
    expect(found.map((looks) => looks.map(({ lanes }) => lanes.length))).toEqual([[2_000], [2_000]])
    expect(judged).toEqual([2_000, 2_000])
  })

  test('checks more lanes in turns: those with jobs within five heartbeats, 2,000 at each', async () => {
    const { found } = await looksOf(65_000, 33)
    expect(seen(found.slice(0, 5).flat(), 'occupied')).toBe(65_000)
    expect(seen(found.slice(0, 5).flat(), 'all')).toBe(10_000)
    expect(seen(found.flat(), 'all')).toBe(65_000)
  })
})
