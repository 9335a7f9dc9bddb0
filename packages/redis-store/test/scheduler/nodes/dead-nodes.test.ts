import { expect, test } from 'vitest'
import { bytes, Cluster, takeForDead } from '../harness.ts'

test.each([3_600_000, 10_000, -3_600_000])(
  'a step of the store’s clock by %i ms takes no job from a live node',
  async (stepMs) => {
    const cluster = new Cluster()
    const [a, b] = [await cluster.node('a'), await cluster.node('b')]
    await a.submitted('mail')
    const holder = a.worker('mail').take()
    const other = b.worker('mail')
    other.takesWhenWoken = true
    other.sleep()
    await cluster.pass(2_300)
    cluster.stepDate(stepMs)
    await cluster.pass(10_000)
    expect(other.jobs).toEqual([])
    await holder.completed('done')
    expect(holder.settled).toEqual(['done'])
    expect(b.observer.errors).toEqual([])
  },
)

test('a dead node is reclaimed in time although the store’s clock stepped', async () => {
  const cluster = new Cluster()
  const [a, b] = [await cluster.node('a'), await cluster.node('b')]
  await a.submitted('mail')
  a.worker('mail').take()
  const worker = b.worker('mail')
  worker.takesWhenWoken = true
  worker.sleep()
  await cluster.pass(1_500)
  await a.crash()
  await cluster.pass(500)
  cluster.stepDate(-60_000)
  await cluster.pass(4_500)
  expect(worker.jobs).toEqual(['mail:1'])
})

test('the clients of a node that was reclaimed while alive are registered again', async () => {
  const cluster = new Cluster()
  const [a, b] = [await cluster.node('a'), await cluster.node('b')]
  const client = await a.asked('mail')
  await takeForDead(b, 'a')
  await cluster.pass(1_100)
  const worker = await b.worker('mail').taken()
  expect(worker.jobs).toEqual(['mail:1'])
  await worker.completed('done')
  expect(client.events).toEqual(['mail:1 complete done'])
})

test('a job that its clients left with their node is not run', async () => {
  const cluster = new Cluster()
  const [a, b] = [await cluster.node('a'), await cluster.node('b')]
  a.ask('mail', { input: bytes('waited for') })
  await a.submitted('mail')
  await a.crash()
  await cluster.pass(5_000)
  const workers = [b.worker('mail').take(), b.worker('mail').take()]
  await cluster.turn()
  expect(workers.flatMap(({ jobs }) => jobs)).toEqual(['mail:2'])
})

test('whoever reclaims a dead node says what it had, and a node that returns what it lost', async () => {
  const cluster = new Cluster()
  const [a, b] = [await cluster.node('a'), await cluster.node('b')]
  await a.submitted('mail')
  a.worker('mail').take()
  await cluster.turn()
  await takeForDead(b, 'a')
  expect(a.observer.of('forgotten')).toEqual([])
  await cluster.pass(1_100)
  expect(a.observer.of('forgotten')).toEqual([{ kind: 'forgotten', held: 1, lost: 1 }])
  const worker = b.worker('mail').take()
  await cluster.turn()
  expect(worker.jobs).toEqual(['mail:1'])
  await b.crash()
  await cluster.pass(5_000)
  expect(a.observer.of('reclaimed')).toEqual([
    { kind: 'reclaimed', node: 'b', requeued: 1, dropped: 0, kept: 0 },
  ])
})
