import { expect, test } from 'vitest'
import { tagOf } from '../../src/record/identity.ts'
import type { Page } from '../../src/source.ts'
import { Gearmand, lacksGearmand } from '@crossgear/tools/gearmand'
import { assortedJobs, expectArrived } from '../support/jobs.ts'
import { lacksMemcached, Memcached } from '../support/memcached.ts'
import { expectRefusal, migration, sourceContract } from '../support/source-contract.ts'
import type { TestTarget } from '../support/target.ts'

/** Run times are not in this queue. */
const submitted = assortedJobs(200, 0)
  .filter(({ epoch }) => epoch === undefined)
  .map((job) => ({ ...job, fn: job.fn.replace('-', '_') }))
const batch = 37

async function start(target: TestTarget) {
  const server = await Memcached.start()
  const words = ['-q', 'libmemcached', '--libmemcached-servers', `127.0.0.1:${server.port}`]
  /** A queue that a real gearmand wrote and left. */
  async function fill(): Promise<void> {
    const gearmand = await Gearmand.start(...words)
    await gearmand.submit(submitted)
    await gearmand.stop()
  }
  return {
    server,
    words,
    fill,
    address: `gearmand+memcached://127.0.0.1:${server.port}`,
    async refill() {
      expect(await server.ask('flush_all')).toBe('OK')
      await fill()
      await server.ask('set another 0 0 7\r\nprogram')
    },
    arrived: () => expectArrived(target, submitted),
    async emptied() {
      expect(await server.ask('lru_crawler metadump all')).toContain('key=another ')
    },
    /** gearmand 1.1.20 itself reads only some of its keys when it starts: the next copy shows that all are there. */
    async restored() {
      expect(await server.ask('get another')).toBe('VALUE another 0 7')
    },
    stop: () => server.stop(),
  }
}

sourceContract(
  {
    name: 'needs gearmand, redis-server and memcached: gearmand+memcached',
    lacking: lacksGearmand || lacksMemcached,
    jobs: submitted.length,
    batch,
    isResumed: false,
    isScanned: true,
    start,
  },
  (queue) => {
    const { move, open } = queue

    test('a move that was killed after the removal treats identical later jobs as others', async () => {
      await queue.moveAndDie()
      await queue.fixture.fill()
      // The jobs that had gone came once more; their unique ids join those that wait.
      const { counts } = await move(true)
      expect(counts).toMatchObject({ known: 0, joined: batch, removed: counts.read })
      expect(await queue.fixture.server.ask(`get ${await noteKey()}`)).toBe('END')
    })

    test('a move that was killed between its note and the removal recognizes its jobs', async () => {
      const source = await open(true)
      const pages = source.pages(undefined, { jobs: batch, bytes: 1e6 })
      const page = (await pages.next()).value as Page
      const connection = await queue.fixture.server.connect()
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
      const source = await queue.openNow()
      const name = `crossgear:removed:${tagOf(source.identity).toString('hex')}`
      await source.close()
      return name
    }

    test.each([
      ['a copy', false],
      ['a move', true],
    ])('%s that is stopped after its first page and run again', async (_name, isMove) => {
      const first = await move(isMove, { stopAfter: batch })
      // A page of a copy that is prepared by then is stored as well.
      const { created } = first.counts
      expect(first.isStopped).toBe(true)
      expect(created).toBe(isMove ? batch : 4 * batch)
      expect((await move(isMove)).counts).toMatchObject({
        created: submitted.length - created,
        known: isMove ? 0 : created,
      })
    })

    test('after a rollback all keys are there', async () => {
      await move(true)
      await queue.target.rollBack(await open(true), migration)
      expect((await move(false)).counts).toMatchObject({ created: submitted.length })
    })

    // Built by hand: a payload that is longer than gearmand's tests need, and names that nobody can tell apart.
    test('5 MB and odd names arrive, and names with several hyphens only when they are known', async () => {
      const connection = await queue.fixture.server.connect()
      const long = Buffer.alloc(5_000_000, 7)
      connection.send(`set gear_long-u 1 0 ${long.length}\r\n`, long, '\r\n')
      expect(await connection.line()).toBe('STORED')
      connection.close()
      await queue.fixture.server.ask('set gear_send-mail-u2 2 0 1\r\ny')
      await queue.fixture.server.ask('set gear_x-y-z 1 0 1\r\nz')
      await queue.fixture.server.ask('set gear_per%cent-ü 1 0 1\r\nz')
      await queue.fixture.server.ask('set gear_-none 9 0 1\r\nz')
      const { counts, rejects } = await move(false, { functions: ['send-mail'] })
      expect(counts).toMatchObject({ created: submitted.length + 3, rejected: 2 })
      expect(rejects.map(({ reason, where }) => `${reason} ${where}`).sort()).toEqual([
        'ambiguous_name key gear_-none',
        'ambiguous_name key gear_x-y-z',
      ])
      const [found] = await queue.target.jobs('long')
      expect(found?.job.input.equals(long)).toBe(true)
      const [mail] = await queue.target.jobs('send-mail')
      expect(mail?.job).toMatchObject({ level: 2, unique: Buffer.from('u2') })
      expect((await queue.target.jobs('per%cent'))[0]?.job.unique).toEqual(Buffer.from('ü'))
    })

    test('a memcached that others have open is reported, and one that is away gives one clear line', async () => {
      const gearmand = await Gearmand.start(...queue.fixture.words)
      await gearmand.submit([{ fn: 'mail', unique: 'one-more', data: Buffer.from('x') }])
      expect(await queue.liveReason()).toContain('other connections')
      await gearmand.stop()
      const away = 'gearmand+memcached://127.0.0.1:1'
      await expectRefusal(away, 'UNREACHABLE', away)
    })
  },
)
