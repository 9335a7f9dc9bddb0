import { RedisServer, lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSource } from '../../src/sources/open-source.ts'
import { Gearmand, lacksGearmand } from '../support/gearmand.ts'
import { assortedJobs, expectArrived } from '../support/jobs.ts'
import { TestTarget } from '../support/target.ts'

describe.skipIf(lacksGearmand || lacksRedis)(
  'needs gearmand and redis-server: gearmand+redis',
  () => {
    let server: RedisServer
    let target: TestTarget
    /** EPOCH jobs are not in this queue. */
    const submitted = assortedJobs(200, 0)
      .filter(({ epoch }) => epoch === undefined)
      .map((job, at) => ({ ...job, fn: job.fn.replace('-', '_'), unique: `u${at}` }))

    beforeAll(async () => {
      ;[server, target] = await Promise.all([RedisServer.start(), TestTarget.open()])
    })
    afterAll(() => Promise.all([server.stop(), target.close()]))
    beforeEach(async () => {
      await server.ask('FLUSHALL')
    })
    afterEach(async () => {
      expect(await target.violations()).toEqual([])
      await target.clear()
    })

    const redisQueue = (): string[] => [
      '-q',
      'redis',
      '--redis-server',
      '127.0.0.1',
      '--redis-port',
      String(server.port),
    ]
    const address = (): string => `gearmand+redis://127.0.0.1:${server.port}`

    async function fill(): Promise<void> {
      const gearmand = await Gearmand.start(...redisQueue())
      await gearmand.submit(submitted)
      await gearmand.stop()
    }

    async function move(isMove: boolean, functions: readonly string[] = []) {
      const source = await openSource(address(), { isMove, functions })
      return target.take(source, { name: 'r', isMove, batch: 37 })
    }

    test('jobs of a real gearmand arrive once, with their priority', async () => {
      await fill()
      expect((await move(false)).counts).toMatchObject({ created: submitted.length, rejected: 0 })
      await expectArrived(target, submitted, Infinity)
      expect(
        await target.verify(await openSource(address(), { isMove: false, functions: [] }), 'r'),
      ).toMatchObject({ isEqual: true })
    })

    test('a move removes the keys, and a rollback restores them for a real gearmand', async () => {
      await fill()
      await server.ask('SET', 'another', 'program')
      expect((await move(true)).counts).toMatchObject({ removed: submitted.length })
      expect(await server.ask('KEYS', '*')).toBe('another')
      expect(
        await target.rollBack(await openSource(address(), { isMove: true, functions: [] }), 'r'),
      ).toMatchObject({ restored: submitted.length })
      const gearmand = await Gearmand.start(...redisQueue())
      try {
        const connection = await gearmand.connect()
        const lines = await connection.lines('status')
        await connection.end()
        const total = lines.reduce((sum, line) => sum + Number(line.split('\t')[1]), 0)
        expect(total).toBe(submitted.length)
      } finally {
        await gearmand.stop()
      }
    })

    // Built by hand: keys of versions that Debian does not have.
    test('keys of old and new versions, and ambiguous names', async () => {
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
      const { counts, rejects } = await move(false, ['send-mail'])
      expect(counts).toMatchObject({ created: 3, rejected: 1 })
      expect(rejects).toMatchObject([{ reason: 'ambiguous_name', where: 'key _gear_-x-y-z' }])
      expect((await target.jobs('a-b'))[0]?.job).toMatchObject({
        level: 8,
        unique: Buffer.from('c'),
      })
      expect((await target.jobs('send-mail'))[0]?.job).toMatchObject({
        level: 2,
        unique: Buffer.from('u2'),
      })
      expect((await target.jobs('old'))[0]?.job.level).toBe(5)
    })
  },
)
