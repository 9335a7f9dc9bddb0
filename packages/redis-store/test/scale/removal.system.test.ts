import { Scheduler, type NewJob } from '@crossgear/core-scheduler'
import { RecordingObserver } from '@crossgear/tools/recording-observer'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FilledStore } from './filled-store.ts'
import { realClock } from './real-clock.ts'

const queued = 200_000
/** Commands of a script that ends or moves many jobs at most, at a few microseconds each. */
const maxCommandsOfStep = 1_000
const list = 'queue:mail:normal'

describe.skipIf(lacksRedis)(`in a queue of ${queued} jobs`, () => {
  let filled: FilledStore
  let store: Awaited<ReturnType<FilledStore['world']['node']>>

  beforeEach(async () => {
    filled = await FilledStore.open()
    store = await filled.world.node()
    await store.lanes.register('mail')
    await filled.fillQueue('mail', queued)
  })
  afterEach(() => filled.close())

  const line = async (): Promise<number[]> =>
    (await filled.redis.lrange(list, '0', '-1')).map(Number).reverse()

  test('a piece of it far from both ends is ended job by job, by short scripts', async () => {
    await filled.fillQueue('mail', 20_000)
    const scheduler = new Scheduler(store, realClock(), new RecordingObserver(), {})
    await scheduler.start()
    const ids = Array.from({ length: 20 }, (_none, at) => 110_001 + at * 3)
    const piece = { lane: 'mail', band: 'normal', from: 110_000, count: 100, ids } as const
    const cost = await filled.cost(async () => {
      expect(await scheduler.queues.endQueued(piece, 'deleted')).toEqual(ids)
    })
    expect(cost.commands / ids.length).toBeLessThan(500)
    const left = await line()
    expect(left.length).toBe(queued + 20_000 - ids.length)
    expect(left.filter((id) => ids.includes(id))).toEqual([])
    await scheduler.stop()
  })

  test('a piece of it that a list reaches by counting is ended in steps of 50 jobs', async () => {
    const scheduler = new Scheduler(store, realClock(), new RecordingObserver(), {})
    await scheduler.start()
    // Of each second job of two pieces: one as deep as a list is counted, and one behind it.
    const pieces = [49_000, 60_000].map((from) => ({ from, count: 1_000 }))
    for (const { from, count } of pieces) {
      const ids = Array.from({ length: count / 2 }, (_none, at) => from + 1 + at * 2)
      const piece = { lane: 'mail', band: 'normal', from, count, ids } as const
      const scripts = await filled.scripts(async () => {
        expect(
          (await scheduler.queues.endQueued(piece, 'deleted')).toSorted((a, b) => a - b),
        ).toEqual(ids)
      })
      for (const script of scripts) {
        expect(script.length).toBeLessThan(maxCommandsOfStep)
        const gaps = script.filter(([name, , , id]) => name === 'lset' && id === '-')
        expect(gaps.length).toBeLessThanOrEqual(50)
        const depths = gaps.map(([, , at]) => Math.min(Number(at), queued - Number(at)))
        expect(Math.max(0, ...depths)).toBeLessThan(51_000)
      }
    }
    const left = await line()
    expect(left.length).toBe(queued - 1_000)
    await scheduler.stop()
  })

  test('a job at an unknown position is searched by short scripts', async () => {
    // The job seems to have come last, and stands in the middle.
    await filled.redis.hset('job:mail:90000', 'enqueued', '1900000000000')
    const cost = await filled.cost(async () => {
      expect(await store.admin.cancel('mail', 90_000)).toBe(true)
    })
    expect(cost.scripts).toBeGreaterThan(10)
    expect(await filled.redis.lpos(list, '90000')).toBeNull()
    expect(await filled.redis.llen(list)).toBe(queued - 1)
  })

  test('imported jobs before and behind many others are taken back by short scripts', async () => {
    const { imports } = store
    const tag = Buffer.from('tag1')
    const importIds: Buffer[] = []
    const addSome = async (behind: number): Promise<void> => {
      const firstUs = (1_700_000_000_000 + behind) * 1_000
      const some = Array.from({ length: 150 }, (_none, at) => {
        const importId = Buffer.alloc(16)
        importId.writeUInt32BE(importIds.push(importId))
        return {
          importId,
          digest: Buffer.alloc(8),
          place: 'queue' as const,
          door: 'gearman',
          arrivedUs: firstUs + at,
          job: { input: Buffer.from('in'), level: 5 } as const,
        }
      })
      await imports.store('mail', tag, some)
    }
    await addSome(queued)
    await filled.fillQueue('mail', queued)
    await addSome(3 * queued)
    const notes = await imports.notes('mail', importIds)
    const requests = notes.flatMap((note) => (note ? [{ note }] : []))
    expect(requests.length).toBe(300)
    let results: readonly string[] = []
    const cost = await filled.cost(async () => {
      results = await imports.undo('mail', requests)
    })
    expect(new Set(results)).toEqual(new Set(['done']))
    expect(cost.commands / cost.scripts).toBeLessThan(3_000)
    const left = await line()
    expect(left.length).toBe(2 * queued)
    expect(new Set(left).size).toBe(left.length)
  })
})

describe.skipIf(lacksRedis)('thousands of jobs', () => {
  const jobs = 3_000
  let filled: FilledStore
  let store: Awaited<ReturnType<FilledStore['world']['node']>>
  let scheduler: Scheduler

  beforeEach(async () => {
    filled = await FilledStore.open()
    store = await filled.world.node()
    await store.lanes.register('mail')
    scheduler = new Scheduler(store, realClock(), new RecordingObserver(), {})
    await scheduler.start()
  })
  afterEach(async () => {
    await scheduler.stop()
    await filled.close()
  })

  async function expectShortScripts(run: () => Promise<unknown>): Promise<void> {
    const scripts = await filled.scripts(run)
    expect(scripts.length).toBeGreaterThan(jobs / 500)
    for (const script of scripts) expect(script.length).toBeLessThan(maxCommandsOfStep)
  }

  async function schedule(): Promise<void> {
    const lua = `
for id = first, last do
  redis.call('HSET', 'job:mail:' .. id, 'status', 'idle', 'enqueued', 1700000000000 + id, 'door', 'faktory', 'input', '1')
  redis.call('ZADD', 'queue:mail:scheduled', 4e9, id)
end`
    await filled.fill(jobs, lua)
  }

  const jobsThere = async (): Promise<number> => (await filled.redis.keys('job:mail:*')).length

  test('of a removed queue are ended by short scripts', async () => {
    await filled.fillQueue('mail', jobs)
    await expectShortScripts(() => scheduler.queues.remove('default'))
    expect(await jobsThere()).toBe(0)
  })

  test('that are scheduled are flushed by short scripts', async () => {
    await schedule()
    await expectShortScripts(() => scheduler.queues.flush())
    expect(await jobsThere()).toBe(0)
  })

  test('of a dropped function are ended by short scripts', async () => {
    await filled.fillQueue('mail', jobs)
    await expectShortScripts(async () =>
      expect(await scheduler.admin.dropLane('mail')).toBe('dropped'),
    )
    expect(await jobsThere()).toBe(0)
  })

  test.each(['queue', 'dead', 'deleted'] as const)(
    'are moved to %s by short scripts',
    async (to) => {
      await schedule()
      await expectShortScripts(() => scheduler.sets.move('scheduled', {}, to))
      expect(await filled.redis.zcard('queue:mail:scheduled')).toBe(0)
      expect(await jobsThere()).toBe(to === 'deleted' ? 0 : jobs)
    },
  )

  test('are listed by short scripts', async () => {
    await filled.fillQueue('mail', jobs)
    await expectShortScripts(async () =>
      expect(await scheduler.admin.listJobs(jobs + 1)).toHaveLength(jobs),
    )
  })
})

describe.skipIf(lacksRedis)('a claim', () => {
  test('behind 5,000 abandoned jobs drops them in pieces', async () => {
    const filled = await FilledStore.open()
    const store = await filled.world.node()
    const job: NewJob = { input: Buffer.from('in'), door: 'gearman', foreground: true, level: 5 }
    for (let first = 1; first < 5_000; first += 500) {
      await store.steps.submit('mail', Array<NewJob>(500).fill(job))
      const ids = Array.from({ length: 500 }, (_none, at) => first + at)
      await store.jobs.abandon('mail', ids)
    }
    await store.steps.submit('mail', [{ ...job, foreground: false }])
    const claim = { by: 'named', groups: [{ lanes: ['mail'] }], max: 1 } as const
    const cost = await filled.cost(async () => {
      expect((await store.steps.claim(claim)).map(({ id }) => id)).toEqual([5_001])
    })
    expect(cost.calls('rpop')).toBeGreaterThan(5_000)
    expect(cost.calls('fcall')).toBeGreaterThan(20)
    expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ normal: 0, running: 1 })
    await filled.close()
  })
})
