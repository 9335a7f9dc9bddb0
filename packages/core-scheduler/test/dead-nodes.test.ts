import { expect, test } from 'vitest'
import { DeadNodes } from '../src/dead-nodes.ts'
import { bytes, Cluster } from './harness.ts'

/** Looks at one other node, a second apart; the number of looks until it is dead, or none. */
function looksUntilDead(heartbeats: readonly number[], gapsMs: readonly number[] = []): number {
  const nodes = new DeadNodes()
  let nowMs = 0
  for (const [at, heartbeat] of heartbeats.entries()) {
    if (nodes.look(new Map([['other', heartbeat]]), nowMs).length > 0) return at + 1
    nowMs += gapsMs[at] ?? 1_000
  }
  return 0
}

test('a node is dead when its heartbeat stood still in three looks after the first', () => {
  expect(looksUntilDead([5, 5, 5, 5])).toBe(4)
  expect(looksUntilDead([5, 5, 5, 6, 6, 6, 6])).toBe(7)
})

test('a node lives while its heartbeat changes, ahead or back', () => {
  expect(looksUntilDead([5, 5, 5, 4, 4, 4, 9_999, 9_999, 9_999, 1])).toBe(0)
})

test('looks that follow each other quickly are not enough', () => {
  expect(looksUntilDead([5, 5, 5, 5, 5, 5], [10, 10, 10, 10, 10])).toBe(0)
})

test('who did not look for a while begins anew: the others may have been cut off, too', () => {
  expect(looksUntilDead([5, 5, 5, 5, 5], [1_000, 1_000, 10_000])).toBe(0)
  expect(looksUntilDead([5, 5, 5, 5, 5, 5, 5], [1_000, 1_000, 10_000])).toBe(7)
})

test('a dead node is named until it is gone', () => {
  const nodes = new DeadNodes()
  const look = (heartbeats: readonly [string, number][], nowMs: number) =>
    nodes.look(new Map(heartbeats), nowMs)
  for (const nowMs of [0, 1_000, 2_000])
    expect(
      look(
        [
          ['a', 1],
          ['b', nowMs],
        ],
        nowMs,
      ),
    ).toEqual([])
  expect(
    look(
      [
        ['a', 1],
        ['b', 3_000],
      ],
      3_000,
    ),
  ).toEqual(['a'])
  expect(
    look(
      [
        ['a', 1],
        ['b', 4_000],
      ],
      4_000,
    ),
  ).toEqual(['a'])
  expect(look([['b', 5_000]], 5_000)).toEqual([])
})

test.each([3_600_000, 10_000, -3_600_000])(
  'a step of the store’s clock by %i ms takes no job from a live node',
  async (stepMs) => {
    const cluster = new Cluster()
    const [a, b] = [await cluster.node('a'), await cluster.node('b')]
    a.submit('mail')
    await cluster.turn()
    const holder = a.worker('mail').take()
    const other = b.worker('mail')
    other.takesWhenWoken = true
    other.sleep()
    await cluster.pass(2_300)
    cluster.world.stepClock(stepMs)
    await cluster.pass(10_000)
    expect(other.jobs).toEqual([])
    holder.complete('done')
    await cluster.turn()
    expect(holder.settled).toEqual(['done'])
    expect(b.observer.troubles).toEqual([])
  },
)

test('a node that died is reclaimed in time though the store’s clock stepped', async () => {
  const cluster = new Cluster()
  const [a, b] = [await cluster.node('a'), await cluster.node('b')]
  a.submit('mail')
  await cluster.turn()
  a.worker('mail').take()
  const worker = b.worker('mail')
  worker.takesWhenWoken = true
  worker.sleep()
  await cluster.pass(1_500)
  a.store.crash()
  await cluster.pass(500)
  cluster.world.stepClock(-60_000)
  await cluster.pass(4_500)
  expect(worker.jobs).toEqual(['mail:1'])
})

test('the clients of a node that was taken for dead are waited for again', async () => {
  const cluster = new Cluster()
  const [a, b] = [await cluster.node('a'), await cluster.node('b')]
  const client = a.ask('mail')
  await cluster.turn()
  await b.store.reclaimNode('a', ['mail'], 0)
  await cluster.pass(1_100)
  const worker = b.worker('mail').take()
  await cluster.turn()
  expect(worker.jobs).toEqual(['mail:1'])
  worker.complete('done')
  await cluster.turn()
  expect(client.heard).toEqual(['mail:1 complete done'])
})

test('a job that its clients left with their node is not run', async () => {
  const cluster = new Cluster()
  const [a, b] = [await cluster.node('a'), await cluster.node('b')]
  a.ask('mail', { input: bytes('waited for') })
  a.submit('mail')
  await cluster.turn()
  a.store.crash()
  await cluster.pass(5_000)
  const workers = [b.worker('mail').take(), b.worker('mail').take()]
  await cluster.turn()
  expect(workers.flatMap(({ jobs }) => jobs)).toEqual(['mail:2'])
})
