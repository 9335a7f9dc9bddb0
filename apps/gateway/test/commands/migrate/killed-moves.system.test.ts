import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { beforeAll, describe, expect, test } from 'vitest'
import { startGateway } from '../../support/gateway-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const jobs = 800
/** Jobs per second of a run that is killed: all of them take long enough for six runs, on a slow machine too. */
const rate = '375'

type Redis = ReturnType<RedisServer['connect']>

/** Sources whose jobs have no ids that their programs gave; their structures are built by hand. */
const sources: readonly {
  readonly scheme: string
  readonly fill: (redis: Redis) => Promise<void>
  /** Keys that are gone when all jobs are. */
  readonly emptied: readonly string[]
}[] = [
  {
    scheme: 'resque+redis',
    emptied: ['resque:queue:default'],
    fill: async (redis) => {
      await redis.sadd('resque:queues', 'default')
      // Each text is there four times.
      const texts = Array.from({ length: jobs }, (_none, at) => payloadOf(at))
      const jobTexts = texts.map((text) => `{"class":"mail","args":${text}}`)
      await redis.rpush('resque:queue:default', ...jobTexts)
    },
  },
  {
    scheme: 'gearmonkey+redis',
    emptied: ['queue:mail:normal'],
    fill: async (redis) => {
      const pipeline = redis.pipeline().set('uid:mail', jobs)
      for (let at = 0; at < jobs; at += 1) {
        pipeline.hset(`job:mail:${at + 1}`, { status: 'idle', input: payloadOf(at) })
        pipeline.lpush('queue:mail:normal', at + 1)
      }
      await pipeline.exec()
    },
  },
]

const payloadOf = (at: number): string => `[${Math.floor(at / 4)}]`

describe.skipIf(lacksRedis)('needs redis-server: moves that are killed', () => {
  const source = redisOfSuite({ isEmptied: true })
  const target = redisOfSuite({ isEmptied: true })
  let store: Redis

  beforeAll(() => {
    store = target().connect()
  })

  const stored = (): Promise<number> => store.llen('queue:mail:normal')

  /** Runs, and kills it as soon as the store has so many jobs; false where it was done before. */
  async function killAt(count: number, words: readonly string[]): Promise<boolean> {
    const { child, exited } = startGateway(['migrate', 'run', ...words])
    let isOver = false
    void exited.then(() => (isOver = true))
    await waitFor('it has stored enough', async () => isOver || (await stored()) >= count)
    child.kill('SIGKILL')
    const { code } = await exited
    return code === null
  }

  test.each(sources)(
    '$scheme: killed at ten random moments and run again, every job is there once',
    async ({ scheme, fill, emptied }) => {
      const redis = source().connect()
      await fill(redis)
      redis.disconnect()
      const sides = ['--from', `${scheme}://127.0.0.1:${source().port}`, '--to', target().url]
      const words = [...sides, '--move', '--batch', '20']
      let killed = 0
      for (let time = 0; time < 10; time += 1) {
        const before = await stored()
        if (await killAt(before + 1 + Math.floor(Math.random() * 50), [...words, '--rate', rate]))
          killed += 1
      }
      expect(killed).toBeGreaterThan(5)
      const early = await startGateway(['migrate', 'verify', ...sides]).exited
      expect([early.code, early.stdout]).toEqual([
        3,
        expect.stringContaining('There are differences.'),
      ])
      expect((await startGateway(['migrate', 'run', ...words]).exited).code).toBe(0)
      expect(await source().ask('EXISTS', ...emptied)).toBe('0')
      expect(await stored()).toBe(jobs)
      const ids = Array.from({ length: jobs }, (_none, at) => at + 1)
      const inputs = await Promise.all(ids.map((id) => store.hget(`job:mail:${id}`, 'input')))
      const counts = new Map<string | null, number>()
      for (const input of inputs) counts.set(input, (counts.get(input) ?? 0) + 1)
      expect([counts.size, ...new Set(counts.values())]).toEqual([jobs / 4, 4])
      const verified = await startGateway(['migrate', 'verify', ...sides]).exited
      expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('Equal.')])
    },
  )
})
