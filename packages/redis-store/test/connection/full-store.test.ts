import type { Outcome, Lease } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import type { SteppedStore } from '../contract/store-world.ts'
import type { RedisWorld } from '../support/redis-world.ts'
import { aCluster, eachInNewWorld, oneServer, type Servers } from '../support/servers.ts'

const bytes = Buffer.from('some bytes')
const job = { input: bytes, door: 'faktory', level: 5, foreground: true } as const
const held = { lane: 'mail', id: 1 }

/** Outcomes that a worker can give its job. */
const outcomes: Readonly<Record<string, (held: Lease) => Outcome>> = {
  complete: (job) => ({ ...named(job), kind: 'complete', output: bytes }),
  fail: (job) => ({ ...named(job), kind: 'fail', message: bytes, isException: true }),
  retry: (job) => ({ ...named(job), kind: 'retry', message: bytes, delayMs: 1, failure: '{}' }),
  dead: (job) => ({ ...named(job), kind: 'dead', message: bytes, failure: '{}' }),
  requeue: (job) => ({ ...named(job), kind: 'requeue', lost: true, maxLosses: 3, failure: '{}' }),
  requeueFront: (job) => ({ ...named(job), kind: 'requeueFront' }),
}

const named = ({ lane, id, token }: Lease) => ({ lane, id, token })

const places = [
  ['a full store, with redis-server:', oneServer],
  ['a full cluster, with redis-server:', aCluster],
] as const

describe.skipIf(lacksRedis).each(places)('%s', (_place, start) => {
  let servers: Servers
  let world: RedisWorld
  let store: SteppedStore
  eachInNewWorld(start, async (opened, running) => {
    ;[world, servers] = [opened, running]
    await limit('0')
    store = await world.node()
  })

  const limit = (bytes: string) =>
    Promise.all(servers.all.map((server) => server.ask('CONFIG', 'SET', 'maxmemory', bytes)))
  const fill = () => limit('1')
  const claim = () => store.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 1 })

  async function claimed(): Promise<Lease> {
    const [first] = await claim()
    expect(first).toMatchObject(held)
    return first as Lease
  }

  test("accepts no job, and passes on the server's error", async () => {
    await fill()
    const refusal = { code: 'REFUSED', message: expect.stringContaining('OOM') as string }
    await expect(store.steps.submit('mail', [job])).rejects.toMatchObject(refusal)
    await expect(store.check()).rejects.toMatchObject(refusal)
  })

  test.each(Object.entries(outcomes))('takes the outcome %s', async (kind, outcomeOf) => {
    await store.steps.submit('mail', [{ ...job, jid: 'j-1', unique: bytes, retentionSeconds: 60 }])
    await fill()
    const outcome = outcomeOf(await claimed())
    const back = ['requeue', 'requeueFront'].includes(kind)
    expect(await store.steps.finish('mail', [outcome])).toEqual([back ? 'requeued' : 'done'])
  })

  test.each(Object.entries(outcomes))(
    'takes %s of a native client’s job',
    async (kind, outcomeOf) => {
      await world.native.push('mail', await world.native.write('mail', bytes), 'normal')
      await fill()
      const outcome = outcomeOf(await claimed())
      const ends = new Map(
        Object.entries({ requeue: 'requeued', requeueFront: 'requeued', dead: 'died' }),
      )
      const end = ends.get(kind) ?? 'done'
      expect(await store.steps.finish('mail', [outcome])).toEqual([end])
    },
  )

  test('settles jobs that a native worker ended', async () => {
    await store.steps.submit('mail', [job])
    const id = (await world.native.take('mail')) ?? 0
    await world.native.finish('mail', id, 'success', bytes)
    await fill()
    const outcome = { lane: 'mail', id, token: 'native', kind: 'complete', output: bytes } as const
    expect(await store.steps.finish('mail', [outcome])).toEqual(['done'])
  })

  test('takes reports of a job, heartbeats and worker counts', async () => {
    const other = await world.node()
    await store.steps.submit('mail', [job])
    await fill()
    const { token } = await claimed()
    const status = { kind: 'status', dividend: bytes, divisor: bytes } as const
    expect(await store.steps.report([{ ...held, token, ...status }])).toEqual([true])
    await store.nodes.beat()
    expect((await other.nodes.beat()).heartbeats.has(store.node)).toBe(true)
    await store.lanes.setWorkers(new Map([['mail', { named: 2, consumers: 0 }]]))
    expect(await store.lanes.counts(['mail'])).toMatchObject([{ workers: 2 }])
  })

  test('queues jobs that are due', async () => {
    await store.steps.submit('mail', [{ ...job, foreground: false, dueAtMs: Date.now() + 60_000 }])
    await world.pass(60_000)
    await fill()
    expect(await store.lanes.promote()).toEqual([{ lane: 'mail', jobs: 1 }])
    await claimed()
  })

  test('gives back the jobs of a dead node', async () => {
    await store.steps.submit('mail', [{ ...job, foreground: false }])
    await claimed()
    await fill()
    const other = await world.node()
    await other.nodes.reclaim(store.node, ['mail'], { maxLosses: 0, failure: '{}' })
    expect(
      await other.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 1 }),
    ).toMatchObject([held])
  })
})
