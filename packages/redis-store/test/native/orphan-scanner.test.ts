import { expect, test } from 'vitest'
import type { QueueKind } from '@crossgear/gearmonkey-redis'
import { OrphanScanner } from '../../src/native/orphan-scanner.ts'

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_none, at) => from + at)

/** A hunt through queues that may change between two looks. */
class World {
  readonly queues: Record<string, number[]> = {}
  readonly candidates: string[] = []
  longestPage = 0
  readonly hunt = new OrphanScanner({
    page: (lane: string, place: QueueKind, from: number, count: number) => {
      const page = (this.queues[`${lane} ${place}`] ?? []).slice(from, from + count)
      this.longestPage = Math.max(this.longestPage, page.length)
      return Promise.resolve(page)
    },
    remember: (lane, ids) => {
      this.candidates.push(...ids.map((id) => `${lane}:${id}`))
      return Promise.resolve()
    },
  })

  /** Steps until all are looked for; what happens in between may move the queues. */
  async run(between: () => void = () => undefined): Promise<number> {
    this.hunt.begin()
    for (let steps = 1; ; steps += 1) {
      if (await this.hunt.goOn()) return steps
      between()
    }
  }
}

test('a job in no queue is found among long queues of several lanes, by short scripts', async () => {
  const world = new World()
  world.queues['mail high'] = range(0, 120_000)
  world.queues['mail low'] = range(120_000, 120_010)
  world.queues['sms normal'] = [7]
  world.hunt.add('mail', [...range(119_000, 120_010), 500_001])
  world.hunt.add('sms', [7, 8])
  expect(await world.run()).toBeGreaterThan(2)
  expect(world.candidates).toEqual(['mail:500001', 'sms:8'])
  expect(world.longestPage).toBe(5_000)
  expect(world.hunt.isOn).toBe(false)
})

test('a queue that grows and shrinks meanwhile hides no orphan', async () => {
  const world = new World()
  const queue = range(0, 100_000)
  world.queues['mail normal'] = queue
  world.hunt.add('mail', range(40_000, 41_000))
  await world.run(() => {
    queue.unshift(...range(200_000, 203_000))
    queue.splice(queue.length - 2_000)
  })
  expect(world.candidates).toEqual([])
})

test('a scan is due when there are many candidates, and clears them', async () => {
  const world = new World()
  world.hunt.add('mail', range(0, 20_000))
  expect(world.hunt.isFull).toBe(true)
  world.queues['mail normal'] = range(0, 20_000)
  await world.run()
  expect(world.hunt.isFull).toBe(false)
  expect(world.candidates).toEqual([])
})
