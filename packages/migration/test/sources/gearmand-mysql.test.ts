import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSource } from '../../src/sources/open-source.ts'
import { run } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import { Gearmand, lacksGearmand } from '../support/gearmand.ts'
import { assortedJobs, expectArrived } from '../support/jobs.ts'
import { lacksMariadb, Mariadb } from '../support/mariadb.ts'
import { TestTarget } from '../support/target.ts'

const inADay = Math.floor(Date.now() / 1000) + 86_400

describe.skipIf(lacksGearmand || lacksRedis || lacksMariadb)(
  'needs gearmand, redis-server and MariaDB: gearmand+mysql',
  () => {
    let server: Mariadb
    let target: TestTarget
    const submitted = assortedJobs(200, inADay)

    beforeAll(async () => {
      ;[server, target] = await Promise.all([Mariadb.start(), TestTarget.open()])
      const gearmand = await Gearmand.start(...queue())
      await gearmand.submit(submitted)
      await gearmand.stop()
      server.sql('CREATE TABLE written AS SELECT * FROM gearman_queue')
    })
    afterAll(() => Promise.all([server.stop(), target.close()]))
    /** A queue that a real gearmand wrote and left. */
    beforeEach(() =>
      server.sql('TRUNCATE gearman_queue; INSERT INTO gearman_queue SELECT * FROM written'),
    )
    afterEach(async () => {
      expect(await target.violations()).toEqual([])
      await target.clear()
    })

    const queue = (): string[] => [
      ...['-q', 'MySQL', '--mysql-host', '127.0.0.1', '--mysql-port', String(server.port)],
      ...['--mysql-user', 'gear', '--mysql-password', 'secret', '--mysql-db', 'gear'],
    ]
    const address = (more = ''): string =>
      `gearmand+mysql://gear:secret@127.0.0.1:${server.port}/gear${more}`

    async function move(isMove: boolean) {
      const source = await openSource(address(), { isMove, functions: [] })
      return (await target.take(source, { name: 'p', isMove, batch: 37 })).counts
    }

    test('jobs of a real gearmand arrive once, as their client submitted them', async () => {
      expect(await move(false)).toMatchObject({ created: 200, rejected: 0 })
      await expectArrived(target, submitted)
      expect(
        await target.verify(await openSource(address(), { isMove: false, functions: [] }), 'p'),
      ).toMatchObject({ isEqual: true })
      expect(await move(false)).toMatchObject({ created: 0, known: 200 })
    })

    test('a move empties the table, and a rollback fills it again', async () => {
      expect(await move(true)).toMatchObject({ removed: 200 })
      expect(server.sql('SELECT count(*) FROM gearman_queue')).toBe('0')
      expect(
        await target.rollBack(await openSource(address(), { isMove: true, functions: [] }), 'p'),
      ).toMatchObject({ restored: 200 })
      const unique = 'TRIM(TRAILING CHAR(0) FROM unique_key)'
      const columns = `function_name, ${unique}, priority, when_to_run, MD5(IFNULL(data, ''))`
      const rows = (table: string): string =>
        server.sql(`SELECT ${columns} FROM ${table} ORDER BY 1, 2`)
      expect(rows('gearman_queue')).toBe(rows('written'))
    })

    test('a move that was killed after the removal treats identical later jobs as others', async () => {
      const killed = target.as('p')
      killed.moved = () => Promise.reject(new Error('killed'))
      const source = await openSource(address(), { isMove: true, functions: [] })
      const parts = { source, target: killed, ledger: killed, selection: new Selection() }
      const options = { name: 'p', isMove: true, batch: 37 }
      await expect(run({ ...parts, options })).rejects.toThrow('killed')
      await source.close()
      // The same jobs again, while the others still wait.
      server.sql('TRUNCATE gearman_queue; INSERT INTO gearman_queue SELECT * FROM written')
      // The 37 that had been removed came once more; their unique ids join the jobs that wait.
      expect(await move(true)).toMatchObject({ read: 200, known: 0, joined: 37, removed: 200 })
      expect(server.sql('SELECT count(*) FROM gearman_queue')).toBe('0')
      expect(server.sql("SHOW TABLES LIKE 'crossgear%'")).toBe('')
    })

    test('a database that others have open is reported', async () => {
      const gearmand = await Gearmand.start(...queue())
      const source = await openSource(address(), { isMove: false, functions: [] })
      expect(source.liveReason).toContain('other connections')
      await source.close()
      await gearmand.stop()
    })

    test('names that are equal in the collation stay two, and bytes stay bytes', async () => {
      server.sql('TRUNCATE gearman_queue; ALTER TABLE gearman_queue DROP INDEX unique_key')
      // Built by hand: gearmand's own index lets one of these in.
      const rows = ['u1', 'U1'].map((unique) => `('${unique}', 'Mail', 1, x'00ff', 0)`)
      server.sql(`INSERT INTO gearman_queue VALUES ${rows.join()}, ('ü', 'mail', 0, NULL, NULL)`)
      expect(await move(true)).toMatchObject({ created: 3, removed: 3 })
      expect(server.sql('SELECT count(*) FROM gearman_queue')).toBe('0')
      const uniques = (await target.jobs('Mail')).map(({ job }) => String(job.unique))
      expect(uniques.sort()).toEqual(['U1', 'u1'])
      const [mail] = await target.jobs('mail')
      expect(mail?.job).toMatchObject({
        unique: Buffer.from('ü'),
        level: 8,
        input: Buffer.alloc(0),
      })
      server.sql('CREATE UNIQUE INDEX unique_key ON gearman_queue (unique_key, function_name)')
    })

    test('a copy that is stopped after each page continues after it', async () => {
      let created = 0
      for (let pages = 1; ; pages += 1) {
        const stop = new AbortController()
        const source = await openSource(address(), { isMove: false, functions: [] })
        const [store, selection] = [target.as('p'), new Selection()]
        const { counts, isStopped } = await run({
          ...{ source, target: store, ledger: store, selection, signal: stop.signal },
          options: { name: 'p', batch: 37 },
          onProgress: () => stop.abort(),
        })
        await source.close()
        created += counts.created
        // The last row of a page is read twice, and three more pages are on their way when it stops.
        expect(counts.read).toBeLessThanOrEqual(4 * 37)
        if (!isStopped || pages > 10) break
      }
      expect(created).toBe(200)
    })

    // Built by hand.
    test('an invalid row is reported and left, and old tables without run times are read', async () => {
      server.sql('ALTER TABLE gearman_queue DROP COLUMN when_to_run')
      server.sql("INSERT INTO gearman_queue VALUES ('p', 'mail', 7, x'00'), (NULL, NULL, 1, NULL)")
      expect(await move(true)).toMatchObject({ created: 200, rejected: 2, removed: 200 })
      expect(server.sql('SELECT count(*) FROM gearman_queue')).toBe('2')
      server.sql('ALTER TABLE gearman_queue ADD when_to_run INT')
    })

    test.each([
      ['/none', 'none'],
      ['/gear?table=x', 'has no table x'],
      ['/gear?table=other', 'has no column unique_key'],
    ])('%s: one clear line', async (path, line) => {
      server.sql('CREATE TABLE IF NOT EXISTS other (id INT)')
      const from = `gearmand+mysql://gear:secret@127.0.0.1:${server.port}${path}`
      await expect(openSource(from, { isMove: false, functions: [] })).rejects.toMatchObject({
        code: 'UNREACHABLE',
        message: expect.stringContaining(line) as string,
      })
    })

    test.each([
      ['gearmand+mysql://gear:wrong@127.0.0.1:PORT/gear', 'UNREACHABLE', 'Access denied'],
      ['gearmand+mysql://gear@127.0.0.1:1/gear', 'UNREACHABLE', 'ECONNREFUSED'],
      ['gearmand+mysql://gear@127.0.0.1:1/gear?charset=x;y', 'USAGE', 'the charset x;y'],
    ])('%s: one clear line, without the password', async (from, code, line) => {
      const opening = openSource(from.replace('PORT', String(server.port)), {
        isMove: false,
        functions: [],
      })
      await expect(opening).rejects.toMatchObject({
        code,
        message: expect.stringContaining(line) as string,
      })
      await expect(opening).rejects.not.toThrow('wrong')
    })
  },
)
