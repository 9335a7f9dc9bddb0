import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tagOf } from '../../src/record/identity.ts'
import { openSource } from '../../src/sources/open-source.ts'
import { run } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import type { Page } from '../../src/source.ts'
import { Gearmand, lacksGearmand } from '../support/gearmand.ts'
import { assortedJobs, expectArrived } from '../support/jobs.ts'
import { lacksMemcached, Memcached } from '../support/memcached.ts'
import { TestTarget } from '../support/target.ts'

describe.skipIf(lacksGearmand || lacksRedis || lacksMemcached)(
  'needs gearmand, redis-server and memcached: gearmand+memcached',
  () => {
    let server: Memcached
    let target: TestTarget
    /** Run times are not in this queue. */
    const submitted = assortedJobs(200, 0)
      .filter(({ epoch }) => epoch === undefined)
      .map((job) => ({ ...job, fn: job.fn.replace('-', '_') }))

    beforeAll(async () => {
      ;[server, target] = await Promise.all([Memcached.start(), TestTarget.open()])
    })
    afterAll(() => Promise.all([server.stop(), target.close()]))
    /** A queue that a real gearmand wrote and left. */
    beforeEach(async () => {
      expect(await server.ask('flush_all')).toBe('OK')
      const gearmand = await Gearmand.start(...queue())
      await gearmand.submit(submitted)
      await gearmand.stop()
    })
    afterEach(async () => {
      expect(await target.violations()).toEqual([])
      await target.clear()
    })

    const queue = (): string[] => [
      ...['-q', 'libmemcached', '--libmemcached-servers', `127.0.0.1:${server.port}`],
    ]
    const open = (isMove = false, functions: readonly string[] = []) =>
      openSource(`gearmand+memcached://127.0.0.1:${server.port}`, { isMove, functions })

    async function move(
      isMove: boolean,
      { functions = [] as readonly string[], stopAfter = Infinity } = {},
    ) {
      const source = await open(isMove, functions)
      return target.take(source, { name: 'c', isMove, batch: 37, stopAfter })
    }

    test('jobs of a real gearmand arrive once, with their priority', async () => {
      expect((await move(false)).counts).toMatchObject({ created: submitted.length, rejected: 0 })
      await expectArrived(target, submitted)
      expect(await target.verify(await open(), 'c')).toMatchObject({ isEqual: true })
      expect((await move(false)).counts).toMatchObject({ created: 0, known: submitted.length })
    })

    test('a move that was killed after the removal treats identical later jobs as others', async () => {
      const killed = target.as('c')
      killed.moved = () => Promise.reject(new Error('killed'))
      const source = await open(true)
      const parts = { source, target: killed, ledger: killed, selection: new Selection() }
      const options = { name: 'c', isMove: true, batch: 37 }
      await expect(run({ ...parts, options })).rejects.toThrow('killed')
      await source.close()
      const gearmand = await Gearmand.start(...queue())
      await gearmand.submit(submitted)
      await gearmand.stop()
      // The jobs that had gone came once more; their unique ids join those that wait.
      const { counts } = await move(true)
      expect(counts).toMatchObject({ known: 0, joined: 37, removed: counts.read })
      expect(await server.ask(`get ${await noteKey()}`)).toBe('END')
    })

    test('a move that was killed between its note and the removal recognizes its jobs', async () => {
      const source = await open(true)
      const pages = source.pages(undefined, { jobs: 37, bytes: 1e6 })
      const page = (await pages.next()).value as Page
      const connection = await server.connect()
      const [standing] = await connection.items([page.records[1]?.sourceKey ?? Buffer.alloc(0)])
      await source.remove?.(page.records.slice(0, 1))
      const key = Buffer.from(await noteKey())
      const [note] = await connection.items([key])
      // Built by hand: the note of two removals, of which one was made.
      const line = `${page.records[1]?.importId.toString('hex')} ${standing?.cas ?? ''} ${String(standing?.key)}`
      const both = `${String(note?.data)}\n${line}`
      connection.send(`set ${String(key)} 0 0 ${both.length}\r\n${both}\r\n`)
      expect(await connection.line()).toBe('STORED')
      await pages.return(undefined)
      expect(await source.lastRemoved?.()).toEqual([page.records[0]?.importId])
      connection.close()
      await source.close()
    })

    async function noteKey(): Promise<string> {
      const source = await open()
      const name = `crossgear:removed:${tagOf(source.identity).toString('hex')}`
      await source.close()
      return name
    }

    test.each([
      ['a copy', false],
      ['a move', true],
    ])('%s that is stopped after its first page and run again', async (_name, isMove) => {
      const first = await move(isMove, { stopAfter: 37 })
      // A page of a copy that is prepared by then is stored as well.
      const { created } = first.counts
      expect(first.isStopped).toBe(true)
      expect(created).toBe(isMove ? 37 : 4 * 37)
      const second = await move(isMove)
      expect(second.counts).toMatchObject({
        ...{ created: submitted.length - created, known: isMove ? 0 : created },
      })
    })

    test('a move removes the keys, and a rollback restores all of them', async () => {
      await server.ask('set another 0 0 7\r\nprogram')
      expect((await move(true)).counts).toMatchObject({ removed: submitted.length })
      expect(await server.ask('lru_crawler metadump all')).toContain('key=another ')
      const source = await open(true)
      const restore = source.restore?.bind(source)
      // As if the first rollback had been killed behind each step.
      source.restore = async (records) => {
        await restore?.(records)
        await restore?.(records)
      }
      expect(await target.rollBack(source, 'c')).toMatchObject({ restored: submitted.length })
      // gearmand 1.1.20 itself reads only some of its keys when it starts: these are compared with what it wrote.
      expect((await move(false)).counts).toMatchObject({ created: submitted.length })
      expect(await server.ask('get another')).toBe('VALUE another 0 7')
    })

    // Built by hand: a payload that is longer than gearmand's tests need, and names that nobody can tell apart.
    test('5 MB and odd names arrive, and names with several hyphens only when they are known', async () => {
      const connection = await server.connect()
      const long = Buffer.alloc(5_000_000, 7)
      connection.send(`set gear_long-u 1 0 ${long.length}\r\n`, long, '\r\n')
      expect(await connection.line()).toBe('STORED')
      connection.close()
      await server.ask('set gear_send-mail-u2 2 0 1\r\ny')
      await server.ask('set gear_x-y-z 1 0 1\r\nz')
      await server.ask('set gear_per%cent-ü 1 0 1\r\nz')
      await server.ask('set gear_-none 9 0 1\r\nz')
      const { counts, rejects } = await move(false, { functions: ['send-mail'] })
      expect(counts).toMatchObject({ created: submitted.length + 3, rejected: 2 })
      expect(rejects.map(({ reason, where }) => `${reason} ${where}`).sort()).toEqual([
        'ambiguous_name key gear_-none',
        'ambiguous_name key gear_x-y-z',
      ])
      const [found] = await target.jobs('long')
      expect(found?.job.input.equals(long)).toBe(true)
      const [mail] = await target.jobs('send-mail')
      expect(mail?.job).toMatchObject({ level: 2, unique: Buffer.from('u2') })
      expect((await target.jobs('per%cent'))[0]?.job.unique).toEqual(Buffer.from('ü'))
    })

    test('a memcached that others have open is reported, and one that is away gives one clear line', async () => {
      const gearmand = await Gearmand.start(...queue())
      await gearmand.submit([{ fn: 'mail', unique: 'one-more', data: Buffer.from('x') }])
      const source = await open()
      expect(source.liveReason).toContain('other connections')
      await source.close()
      await gearmand.stop()
      const opening = openSource('gearmand+memcached://127.0.0.1:1', {
        ...{ isMove: false, functions: [] },
      })
      await expect(opening).rejects.toMatchObject({
        code: 'UNREACHABLE',
        message: expect.stringContaining('gearmand+memcached://127.0.0.1:1') as string,
      })
    })
  },
)
