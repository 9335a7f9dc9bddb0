import type { NewJob, Step } from '@crossgear/core-scheduler'
import { beforeEach, describe, expect, test } from 'vitest'
import { aroundSteps, bytes, Cluster, type TestNode } from './harness.ts'

const long = 'x'.repeat(1_024)

let cluster: Cluster
let node: TestNode
let other: TestNode
let steps: Step[]

beforeEach(async () => {
  cluster = new Cluster()
  steps = []
  node = await cluster.node('a', {}, (store) =>
    aroundSteps(store, (step, send) => {
      steps.push(step)
      return send(step)
    }),
  )
  other = await cluster.node('b')
})

/** The outputs that the store was sent for a job that ends with `output`; `withheld` for one that was not. */
async function sent(output: string): Promise<string[]> {
  const worker = node.worker('mail').take()
  await cluster.turn()
  worker.complete(output)
  await cluster.turn()
  expect(worker.settled).toEqual(['done'])
  const outcomes = steps.flatMap((step) => step.outcomes.flatMap((lane) => lane.outcomes))
  return outcomes.flatMap((outcome) => {
    if (outcome.kind !== 'complete') return []
    return [outcome.withheld ? 'withheld' : Buffer.from(outcome.output).toString()]
  })
}

describe('an output of 1 KB', () => {
  test('for a client of this node is not sent', async () => {
    const client = node.ask('mail')
    await cluster.turn()
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
    const client = other.ask('mail')
    await cluster.turn()
    expect(await sent(long)).toEqual([long])
    expect(client.events).toEqual([`mail:1 complete ${long}`])
  })

  test('is sent once the store asks for it: a client of another node has joined', async () => {
    const unique = bytes('u')
    const first = node.ask('mail', { unique })
    await cluster.turn()
    const second = other.ask('mail', { unique })
    await cluster.turn()
    expect(await sent(long)).toEqual(['withheld', long])
    for (const { events } of [first, second]) expect(events).toEqual([`mail:1 complete ${long}`])
  })

  test('that is kept is sent', async () => {
    const kept: Partial<NewJob> = { retentionSeconds: 60 }
    node.submit('mail', kept)
    await cluster.turn()
    expect(await sent(long)).toEqual([long])
  })
})

test('a shorter output is sent', async () => {
  node.ask('mail')
  await cluster.turn()
  expect(await sent(long.slice(1))).toEqual([long.slice(1)])
})
