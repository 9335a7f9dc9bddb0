import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Source } from '../../src/source.ts'
import { openSource } from '../../src/sources/open-source.ts'
import { Gearmand, lacksGearmand } from '../support/gearmand.ts'
import { assortedJobs, expectArrived } from '../support/jobs.ts'
import { lacksPostgres, Postgres } from '../support/postgres.ts'
import { TestTarget } from '../support/target.ts'

const inADay = Math.floor(Date.now() / 1000) + 86_400

describe.skipIf(lacksGearmand || lacksRedis || lacksPostgres)(
  'needs gearmand, redis-server and PostgreSQL: gearmand+postgres',
  () => {
    let server: Postgres
    let target: TestTarget
    const submitted = assortedJobs(200, inADay)

    beforeAll(async () => {
      ;[server, target] = await Promise.all([Postgres.start(), TestTarget.open()])
      const gearmand = await Gearmand.start(...queue())
      await gearmand.submit(submitted)
      await gearmand.stop()
      server.sql('CREATE TABLE written AS SELECT * FROM queue')
    })
    afterAll(() => Promise.all([server.stop(), target.close()]))
    /** A queue that a real gearmand wrote and left. */
    beforeEach(() => server.sql('TRUNCATE queue; INSERT INTO queue SELECT * FROM written'))
    afterEach(async () => {
      expect(await target.violations()).toEqual([])
      await target.clear()
    })

    const queue = (): string[] => [
      '-q',
      'Postgres',
      '--libpq-conninfo',
      `host=127.0.0.1 port=${server.port} user=gear dbname=postgres`,
      '--libpq-table',
      'queue',
    ]
    const address = (): string =>
      `gearmand+postgres://gear:secret@127.0.0.1:${server.port}/postgres`

    /** The server still counts connections for a moment after they were closed. */
    async function quietSource(isMove: boolean): Promise<Source> {
      let source: Source | undefined
      const reason = async (): Promise<string | undefined> => {
        await source?.close()
        source = await openSource(address(), { isMove, functions: [] })
        return source.liveReason
      }
      await expect.poll(reason).toBeUndefined()
      return source as Source
    }

    const move = async (isMove: boolean) =>
      (await target.take(await quietSource(isMove), { name: 'p', isMove, batch: 37 })).counts

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
      expect(server.sql('SELECT count(*) FROM queue')).toBe('0')
      expect(
        await target.rollBack(await openSource(address(), { isMove: true, functions: [] }), 'p'),
      ).toMatchObject({ restored: 200 })
      const columns = `function_name, trim(trailing E'\\x01' from unique_key), priority, when_to_run`
      const rows = (table: string): string =>
        server.sql(`SELECT ${columns} FROM ${table} ORDER BY 1, 2`)
      expect(rows('queue')).toBe(rows('written'))
    })

    test('a database that others have open is reported', async () => {
      const gearmand = await Gearmand.start(...queue())
      const source = await openSource(address(), { isMove: false, functions: [] })
      expect(source.liveReason).toContain('other connections')
      await source.close()
      await gearmand.stop()
    })

    test.each([
      [
        (port: number) => `gearmand+postgres://gear@127.0.0.1:${port}/none`,
        'database "none" does not exist',
      ],
      [
        (port: number) => `gearmand+postgres://gear@127.0.0.1:${port}/postgres?table=x`,
        'has no table x',
      ],
      [() => 'gearmand+postgres://gear@127.0.0.1:1/postgres', 'ECONNREFUSED'],
    ])('an address that is wrong: one clear line', async (addressOf, line) => {
      const opening = openSource(addressOf(server.port), { isMove: false, functions: [] })
      await expect(opening).rejects.toMatchObject({
        code: 'UNREACHABLE',
        message: expect.stringContaining(line) as string,
      })
    })
  },
)
