import { RedisServer } from '@crossgear/tools/redis-server'
import { expect, test } from 'vitest'
import { Gearmand, lacksGearmand } from '@crossgear/tools/gearmand'
import { assortedJobs, expectArrived } from '../support/jobs.ts'
import { sourceContract } from '../support/source-contract.ts'
import type { TestTarget } from '../support/target.ts'

/** EPOCH jobs are not in this queue. */
const submitted = assortedJobs(200, 0)
  .filter(({ epoch }) => epoch === undefined)
  .map((job, at) => ({ ...job, fn: job.fn.replace('-', '_'), unique: `u${at}` }))

async function start(target: TestTarget) {
  const server = await RedisServer.start()
  const words = ['-q', 'redis', '--redis-server', '127.0.0.1', '--redis-port', String(server.port)]
  return {
    server,
    address: `gearmand+redis://127.0.0.1:${server.port}`,
    async refill() {
      await server.ask('FLUSHALL')
      const gearmand = await Gearmand.start(...words)
      await gearmand.submit(submitted)
      await gearmand.stop()
      await server.ask('SET', 'another', 'program')
    },
    arrived: () => expectArrived(target, submitted, Infinity),
    async emptied() {
      expect(await server.ask('KEYS', '*')).toBe('another')
    },
    async restored() {
      const gearmand = await Gearmand.start(...words)
      const found = await gearmand.jobs()
      await gearmand.stop()
      expect(found).toBe(submitted.length)
    },
    stop: () => server.stop(),
  }
}

sourceContract(
  {
    name: 'needs gearmand and redis-server: gearmand+redis',
    lacking: lacksGearmand,
    jobs: submitted.length,
    batch: 37,
    isScanned: true,
    start,
  },
  (queue) => {
    test('a move that was killed after the removal treats an identical later job as another one', async () => {
      const { server } = queue.fixture
      const fill = () => server.ask('HSET', '_gear_-mail-u', 'data', 'x', 'priority', '1')
      await server.ask('FLUSHALL')
      await fill()
      await queue.moveAndDie()
      await fill()
      // The unique id of this job joins the one that waits.
      const counts = { read: 1, known: 0, joined: 1, removed: 1 }
      expect((await queue.move(true)).counts).toMatchObject(counts)
      expect(await server.ask('KEYS', '*')).toBe('')
    })

    // Built by hand: keys of versions that Debian does not have.
    test('keys of old and new versions, and ambiguous names', async () => {
      const { server } = queue.fixture
      await server.ask('FLUSHALL')
      await server.ask('SET', '_gear_-old-u1', 'a string of 1.1.15')
      await server.ask(
        'HSET',
        '_gear_-a-b-c',
        'data',
        'x',
        'priority',
        '0',
        'function',
        'a-b',
        'unique',
        'c',
      )
      await server.ask('HSET', '_gear_-send-mail-u2', 'data', 'y', 'priority', '2')
      await server.ask('HSET', '_gear_-x-y-z', 'data', 'z', 'priority', '1')
      await server.ask('LPUSH', '_gear_-a-list', 'of another program')
      const { counts, rejects } = await queue.move(false, { functions: ['send-mail'] })
      expect(counts).toMatchObject({ created: 3, rejected: 1 })
      expect(rejects).toMatchObject([{ reason: 'ambiguous_name', where: 'key _gear_-x-y-z' }])
      expect((await queue.target.jobs('a-b'))[0]?.job).toMatchObject({
        level: 8,
        unique: Buffer.from('c'),
      })
      expect((await queue.target.jobs('send-mail'))[0]?.job).toMatchObject({
        level: 2,
        unique: Buffer.from('u2'),
      })
      expect((await queue.target.jobs('old'))[0]?.job.level).toBe(5)
    })
  },
)
