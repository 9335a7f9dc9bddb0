import { expect, test } from 'vitest'
import { StoreError } from '@crossgear/core-scheduler'
import { aroundSteps, bytes, Cluster } from './harness.ts'

/** Inputs of all that stands in a queue, taken one by one. */
async function drained(cluster: Cluster, node: Awaited<ReturnType<Cluster['node']>>) {
  const seen: string[] = []
  for (;;) {
    const lanes = node.scheduler.registry.ofQueue('default')
    const groups = [{ lanes, queue: 'default' }]
    const [job] = await node.store.steps.claim({ by: 'consumer', groups, max: 1 })
    if (!job) return seen
    seen.push(job.input.toString())
    await cluster.turn()
  }
}

test('jobs behind the first one of a new lane stay behind it', async () => {
  const cluster = new Cluster()
  let register: () => void = () => undefined
  const node = await cluster.node('slow', {}, (store) => {
    const registerLane = store.lanes.register.bind(store.lanes)
    store.lanes.register = async (lane) => {
      if (lane === 'new') await new Promise<void>((resolve) => (register = resolve))
      return registerLane(lane)
    }
    return store
  })
  await node.submitted('known', { input: bytes('0') })
  const behind = ['new', 'known', 'new', 'other', 'known'].map((lane, at) =>
    node.submit(lane, { input: bytes(String(at + 1)) }),
  )
  const elsewhere = await node.submitted('known@bulk')
  expect(behind.map(({ result }) => result)).toEqual(behind.map(() => undefined))
  expect(elsewhere.result).toBeDefined()

  register()
  await cluster.turn()
  expect(behind.every(({ result }) => result?.kind === 'created')).toBe(true)
  expect(await drained(cluster, node)).toEqual(['0', '1', '2', '3', '4', '5'])
})

test('a lane that cannot be created delays no other', async () => {
  const cluster = new Cluster()
  const node = await cluster.node('full', {}, (store) => {
    const registerLane = store.lanes.register.bind(store.lanes)
    store.lanes.register = (lane) =>
      lane === 'new' ? Promise.reject(new StoreError('TOO_MANY_LANES', 'full')) : registerLane(lane)
    return store
  })
  const clients = ['known', 'new', 'known'].map((lane) => node.submit(lane))
  await cluster.turn()
  expect(clients.map(({ result }) => result?.kind)).toEqual(['created', undefined, 'created'])
  expect(clients[1]?.refusal?.code).toBe('TOO_MANY_LANES')
})

test("submissions of one turn reach the store in one call, a refused lane's alone", async () => {
  const cluster = new Cluster()
  const calls: string[][] = []
  const node = await cluster.node('counting', {}, (store) => {
    return aroundSteps(store, async (step, send) => {
      calls.push(step.submissions.map(({ lane, places }) => `${lane} ${places.join(' ')}`))
      const answer = await send(step)
      const refusal = new StoreError('REFUSED', 'WRONGTYPE')
      const isBad = (at: number): boolean => step.submissions[at]?.lane === 'bad'
      const submissions = answer.submissions.map((lane, at) => (isBad(at) ? refusal : lane))
      return { ...answer, submissions }
    })
  })
  for (const lane of ['a', 'bad', 'b']) node.submit(lane)
  await cluster.turn()
  calls.splice(0)
  const clients = ['a', 'bad', 'b', 'a'].map((lane) => node.submit(lane))
  await cluster.turn()
  expect(calls).toEqual([['a 0 3', 'bad 1', 'b 2']])
  expect(clients.map(({ refusal }) => refusal?.code)).toEqual([
    undefined,
    'REFUSED',
    undefined,
    undefined,
  ])
  expect(clients.map(({ result }) => result !== undefined)).toEqual([true, false, true, true])
})
