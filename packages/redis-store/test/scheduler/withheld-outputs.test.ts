import type { NewJob, Step } from '@crossgear/core-scheduler'
import { beforeEach, describe, expect, test } from 'vitest'
import { aroundSteps, bytes, Cluster, type TestNode } from './harness.ts'

const long = 'x'.repeat(1_024)

let cluster: Cluster
let node: TestNode
let other: TestNode
let steps: Step[]
/** Answers come after it. */
let gate: Promise<void>

beforeEach(async () => {
  cluster = new Cluster()
  steps = []
  gate = Promise.resolve()
  node = await cluster.node('a', {}, (store) =>
    aroundSteps(store, async (step, send) => {
      steps.push(step)
      const answer = await send(step)
      await gate
      return answer
    }),
  )
  other = await cluster.node('b')
})

/** The outputs that the store was sent for a job that ends with `output`; `withheld` for one that was not. */
async function sent(output: string): Promise<string[]> {
  const worker = await node.worker('mail').taken()
  await worker.completed(output)
  expect(worker.settled).toEqual(['done'])
  const outcomes = steps.flatMap((step) => step.outcomes.flatMap((lane) => lane.outcomes))
  return outcomes.flatMap((outcome) => {
    if (outcome.kind !== 'complete') return []
    return [outcome.withheld ? 'withheld' : Buffer.from(outcome.output).toString()]
  })
}

describe('an output of 1 KB', () => {
  test('for a client of this node is not sent', async () => {
    const client = await node.asked('mail')
    expect(await sent(long)).toEqual(['withheld'])
    expect(client.events).toEqual([`mail:1 complete ${long}`])
  })

  test.each([
    ['this node', () => node],
    ['another node', () => other],
  ])('of a background job of %s is not sent', async (_whose, submitter) => {
    submitter().submit('mail')
    await cluster.turn()
    expect(await sent(long)).toEqual(['withheld'])
  })

  test('for a client of another node is sent at once', async () => {
    const client = await other.asked('mail')
    expect(await sent(long)).toEqual([long])
    expect(client.events).toEqual([`mail:1 complete ${long}`])
  })

  test('is sent once the store asks for it: a client of another node has joined', async () => {
    const unique = bytes('u')
    const first = await node.asked('mail', { unique })
    const second = await other.asked('mail', { unique })
    expect(await sent(long)).toEqual(['withheld', long])
    for (const { events } of [first, second]) expect(events).toEqual([`mail:1 complete ${long}`])
  })

  test('that is kept is sent', async () => {
    const kept: Partial<NewJob> = { retentionSeconds: 60 }
    await node.submitted('mail', kept)
    expect(await sent(long)).toEqual([long])
  })
})

test('a shorter output is sent', async () => {
  await node.asked('mail')
  expect(await sent(long.slice(1))).toEqual([long.slice(1)])
})

test('outputs that the store asks for go in calls of 4 MB at most, whatever their number', async () => {
  const max = 4 * 1024 * 1024
  const output = 'x'.repeat(1024 * 1024)
  const workers = Array.from({ length: 6 }, () => node.worker('mail'))
  for (const at of workers.keys()) node.submit('mail', { unique: bytes(`${at}`) })
  await cluster.turn()
  for (const worker of workers) worker.take()
  await cluster.turn()
  const clients = workers.map((_worker, at) => other.ask('mail', { unique: bytes(`${at}`) }))
  await cluster.turn()
  // Two answers that come together ask for the outputs of both.
  let open = (): void => undefined
  gate = new Promise((resolve) => (open = resolve))
  for (const some of [workers.slice(0, 3), workers.slice(3)]) {
    for (const worker of some) worker.complete(output)
    await cluster.turn()
  }
  open()
  await cluster.turn()
  expect(clients.flatMap(({ events }) => events)).toHaveLength(6)
  const calls = steps.flatMap((step) =>
    step.outcomes.map(({ outcomes }) =>
      outcomes.map((one) => (one.kind === 'complete' && !one.withheld ? one.output.length : 0)),
    ),
  )
  const sizes = calls.map((some) => some.reduce((sum, size) => sum + size, 0))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(6 * output.length)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(max)
})
