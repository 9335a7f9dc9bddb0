import { noStep, soleAnswer, StoreError, type Lease, type NewJob } from '@crossgear/core-scheduler'
import { allCompleted, takeOne } from '../contract/kit.ts'
import type { SteppedStore } from '../contract/store-world.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Scripts } from '../../src/scripts/scripts.ts'
import { JobReads } from '../../src/jobs/job-reads.ts'
import { KeptJobs } from '../../src/step/kept-jobs.ts'
import { FilledStore } from '../scale/filled-store.ts'

const longBytes = 100_000

function jobOf(bytes: number): NewJob {
  return { input: Buffer.alloc(bytes, 'x'), door: 'gearman', level: 5, foreground: false }
}

describe.skipIf(lacksRedis)('a job that the step of its claim brings', () => {
  let filled: FilledStore
  let store: SteppedStore

  beforeEach(async () => {
    filled = await FilledStore.open()
    store = await filled.world.node()
    await store.lanes.register('mail')
    // From now on it knows that the server has no replicas, and so all listeners.
    await store.nodes.beat()
    for (const lease of await handOver(jobOf(1))) await complete(lease)
  })
  afterEach(() => filled.close())

  async function handOver(...jobs: NewJob[]): Promise<readonly Lease[]> {
    const places = [...jobs.keys()]
    const groups = [{ lanes: ['mail'] }]
    const { claims } = await store.steps.step({
      ...noStep,
      submissions: [{ lane: 'mail', jobs, places }],
      claims: [{ by: 'named', groups, max: jobs.length }],
    })
    return soleAnswer(claims)
  }

  async function complete(
    { lane, id, token }: Lease,
    bytes = 0,
    withheld = false,
  ): Promise<unknown> {
    const output = Buffer.alloc(bytes, 'y')
    return await store.steps.finish(lane, [{ lane, id, token, kind: 'complete', output, withheld }])
  }

  /** Bytes that the server received and sent meanwhile. */
  async function traffic(run: () => Promise<unknown>): Promise<{ in: number; out: number }> {
    const read = async (): Promise<number[]> => {
      const info = await filled.redis.info('stats')
      return ['in', 'out'].map((way) =>
        Number(new RegExp(`total_net_${way}put_bytes:(\\d+)`).exec(info)?.[1]),
      )
    }
    const before = await read()
    await run()
    const after = await read()
    const [received = 0, sent = 0] = after.map((bytes, at) => bytes - (before[at] ?? 0))
    return { in: received, out: sent }
  }

  test('goes back where the store has leased it and refuses what else its worker needs', async () => {
    const spies = [
      vi.spyOn(KeptJobs.prototype, 'get').mockReturnValue(undefined),
      vi.spyOn(JobReads.prototype, 'read').mockRejectedValue(new StoreError('REFUSED', 'LOADING')),
    ]
    onTestFinished(() => spies.forEach((spy) => spy.mockRestore()))
    await expect(handOver(jobOf(1))).rejects.toThrow('LOADING')
    for (const spy of spies) spy.mockRestore()
    await store.jobs.expired(['mail'], 1)
    expect(await takeOne(store, 'mail')).toMatchObject({ lane: 'mail', input: Buffer.from('x') })
  })

  test('stays with its worker where a step that was sent before has no answer', async () => {
    let fail = (_error: Error): void => {}
    const answer = new Promise<never>((_resolve, reject) => (fail = reject))
    const spy = vi.spyOn(Scripts.prototype, 'run').mockReturnValueOnce(answer)
    onTestFinished(() => spy.mockRestore())
    const unanswered = handOver(jobOf(1))
    const [lease] = await handOver(jobOf(1))
    fail(new Error('the connection was lost'))
    await expect(unanswered).rejects.toThrow('lost')
    for (let look = 0; look < 5; look += 1) await store.jobs.expired(['mail'], 1)
    const [held] = await store.jobs.look('mail', [lease!.id])
    expect(held?.token).toBe(lease!.token)
  })

  test('leaves the rest of its step standing where it cannot be read', async () => {
    const spies = [
      vi.spyOn(KeptJobs.prototype, 'get').mockReturnValue(undefined),
      vi.spyOn(JobReads.prototype, 'read').mockRejectedValue(new StoreError('REFUSED', 'LOADING')),
    ]
    onTestFinished(() => spies.forEach((spy) => spy.mockRestore()))
    const answer = await store.steps.step({
      ...noStep,
      submissions: [{ lane: 'mail', jobs: [jobOf(1)], places: [0] }],
      claims: [{ by: 'named', groups: [{ lanes: ['mail'] }], max: 1 }],
    })
    expect(answer.submissions).toMatchObject([{ results: [{ kind: 'created' }] }])
    expect(answer.claims[0]).toMatchObject({ message: 'LOADING' })
  })

  test('is handed over by one script, which reads nothing of its hash', async () => {
    const scripts = await filled.scripts(async () => {
      expect(await handOver(jobOf(10), jobOf(10))).toHaveLength(2)
    })
    expect(scripts).toHaveLength(1)
    const reads = scripts.flat().filter(([name = '']) => /^h(get|mget|getall|exists)/.test(name))
    expect(reads.filter(([, key = '']) => key.startsWith('job:'))).toEqual([])
  })

  test('never stands in a list', async () => {
    const scripts = await filled.scripts(() => handOver(jobOf(10), jobOf(10)))
    const names = scripts.flat().map(([name = '']) => name)
    expect(names).toContain('hset')
    expect(names.filter((name) => /push|pop/.test(name))).toEqual([])
  })

  test('goes to a claim for several lanes that came before one for its lane alone', async () => {
    const named = { by: 'named' as const, max: 1 }
    const { claims } = await store.steps.step({
      ...noStep,
      submissions: [{ lane: 'mail', jobs: [jobOf(10)], places: [0] }],
      claims: [
        { ...named, groups: [{ lanes: ['other', 'mail'] }] },
        { ...named, groups: [{ lanes: ['mail'] }] },
      ],
    })
    expect(claims).toMatchObject([[{ lane: 'mail' }], []])
  })

  /** A step with a job for each lane, and a claim of functions in this order. */
  async function claimInOrder(lanes: readonly string[], ...order: string[]): Promise<unknown> {
    const { claims } = await store.steps.step({
      ...noStep,
      submissions: lanes.map((lane, at) => ({ lane, jobs: [jobOf(10)], places: [at] })),
      claims: [{ by: 'named', groups: order.map((lane) => ({ lanes: [lane] })), max: 1 }],
    })
    return soleAnswer(claims).map(({ lane }) => lane)
  }

  test('goes to a claim whose earlier functions are known to have none, without a list', async () => {
    const scripts = await filled.scripts(async () => {
      expect(await claimInOrder(['mail'], 'other', 'third', 'mail', 'last')).toEqual(['mail'])
    })
    const names = scripts.flat().map(([name = '']) => name)
    expect(names.filter((name) => /push|pop/.test(name))).toEqual([])
  })

  test.each([
    ['waits for an earlier function', ['mail']],
    ['comes for an earlier function', ['mail', 'other']],
  ])('goes to no claim before one that %s', async (_which, lanes) => {
    if (lanes.length === 1) await store.steps.submit('other', [jobOf(10)])
    expect(await claimInOrder(lanes, 'third', 'other', 'mail')).toEqual(['other'])
    expect(await claimInOrder([], 'other', 'mail')).toEqual(['mail'])
  })

  test('a claim over empty functions asks for all of them by two commands', async () => {
    const scripts = await filled.scripts(async () => {
      expect(await claimInOrder([], 'mail', 'a', 'b', 'c', 'd')).toEqual([])
    })
    const names = scripts.flat().map(([name = '']) => name)
    expect(names.filter((name) => !/^(time|pubsub)/.test(name))).toEqual(['exists', 'exists'])
  })

  test('takes the same commands for all jobs, but for their hashes', async () => {
    const commandsOf = async (jobs: number): Promise<Map<string, number>> => {
      const counts = new Map<string, number>()
      const scripts = await filled.scripts(() =>
        handOver(...Array.from({ length: jobs }, () => jobOf(10))),
      )
      for (const [name = ''] of scripts.flat()) counts.set(name, (counts.get(name) ?? 0) + 1)
      return counts
    }
    const [one, many] = [await commandsOf(1), await commandsOf(50)]
    expect([one.get('hset'), many.get('hset')]).toEqual([1, 50])
    for (const counts of [one, many]) counts.delete('hset')
    expect(many).toEqual(one)
  })

  test('is not sent back', async () => {
    const bytes = await traffic(async () => {
      const [lease] = await handOver(jobOf(longBytes))
      expect(lease?.input.length).toBe(longBytes)
    })
    expect(bytes.in).toBeGreaterThan(longBytes)
    expect(bytes.out).toBeLessThan(longBytes / 10)
  })

  test('is not sent back by a later step either', async () => {
    await store.steps.submit('mail', [jobOf(longBytes)])
    const bytes = await traffic(async () => {
      const lease = await takeOne(store, 'mail')
      expect(lease.input.length).toBe(longBytes)
    })
    expect(bytes.out).toBeLessThan(longBytes / 10)
  })

  test.each([true, false])(
    'ends without its output, where that is withheld (foreground: %s)',
    async (foreground) => {
      const [lease] = await handOver({ ...jobOf(10), foreground })
      if (!lease) throw new Error('nothing handed over')
      const bytes = await traffic(async () => {
        expect(await complete(lease, longBytes, true)).toEqual(['done'])
      })
      expect(bytes.in).toBeLessThan(longBytes / 10)
    },
  )

  test.each([
    ['nobody', new Set<string>()],
    ['this node alone', new Set(['mail'])],
  ])('is not announced where %s listens, which is asked once', async (_who, watched) => {
    await store.events.watch(watched)
    const scripts = await filled.scripts(async () => {
      for (const lease of await handOver(jobOf(10), jobOf(10), jobOf(10))) await complete(lease)
    })
    const commands = scripts.flat().map(([name = '', ...words]) => `${name} ${words.join(' ')}`)
    expect(commands.filter((command) => command.startsWith('publish'))).toEqual([])
    for (const script of scripts) {
      const asked = script.filter(([name]) => name === 'pubsub').map(([, what]) => what)
      expect(asked).toEqual(['NUMPAT', 'NUMSUB'])
    }
  })

  test('is one of several lanes, and all are asked about at once', async () => {
    const lanes = ['mail', 'sms', 'push']
    await store.events.watch(new Set(lanes))
    const emptied: string[] = []
    const step = {
      ...noStep,
      submissions: lanes.map((lane) => ({ lane, jobs: [jobOf(10), jobOf(10)], places: [0, 1] })),
      claims: lanes.map((lane) => ({
        by: 'named' as const,
        groups: [{ lanes: [lane] }],
        max: lane === 'sms' ? 1 : 2,
        emptied: () => emptied.push(lane),
      })),
    }
    const scripts = await filled.scripts(async () => {
      const { claims } = await store.steps.step(step)
      expect(claims).toMatchObject([
        [{ lane: 'mail' }, { lane: 'mail' }],
        [{ lane: 'sms' }],
        [{ lane: 'push' }, { lane: 'push' }],
      ])
    })
    expect(emptied).toEqual(['mail', 'push'])
    const asked = scripts.flat().filter(([name]) => name === 'pubsub')
    expect(asked.map(([, what]) => what)).toEqual(['NUMPAT', 'NUMSUB'])
  })

  test('is announced in the order of the text where somebody listens', async () => {
    const ear = filled.redis.duplicate()
    const heard: string[] = []
    ear.on('message', (_channel, message) => heard.push(message))
    await ear.subscribe('channel:mail')
    const leases = await handOver(jobOf(10), jobOf(10))
    await store.steps.finish('mail', allCompleted(leases))
    await expect
      .poll(() => heard)
      .toEqual(['create:2', 'start:2', 'create:3', 'start:3', 'finish:2', 'finish:3'])
    ear.disconnect()
  })
})
