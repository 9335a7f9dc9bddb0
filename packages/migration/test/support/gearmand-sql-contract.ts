import type { Lacking } from '@crossgear/tools/lacks'
import { expect, test } from 'vitest'
import { Gearmand, lacksGearmand, type Submission } from '@crossgear/tools/gearmand'
import { assortedJobs, expectArrived } from './jobs.ts'
import { type QueueFixture, sourceContract, type TestQueue } from './source-contract.ts'

/** A database with gearmand's table. */
export interface GearmandDatabase {
  /** gearmand's words for it. */
  readonly words: readonly string[]
  readonly address: string
  readonly table: string
  /** Columns of a job, as they are compared. */
  readonly columns: string
  /** Runs SQL; its rows as text, a line each. */
  sql(text: string): string
  /** Keeps its rows. */
  keep(): void
  /** SQL that makes its rows those that were kept. */
  readonly refill: string
  /** Makes all as it was kept. By `refill`. */
  readonly reset?: () => void
  stop(): Promise<void>
}

interface TableFixture extends QueueFixture {
  readonly database: GearmandDatabase
}

/** A queue in a database, for tests of this kind alone. */
export interface GearmandQueue extends TestQueue<TableFixture> {
  /** Jobs that a real gearmand has taken. */
  readonly submitted: readonly Submission[]
}

const inADay = Math.floor(Date.now() / 1000) + 86_400
const jobs = 200
const batch = 37

/** Tests of gearmand's table in a database, and `others` of this one alone. */
export function gearmandSqlContract(
  name: string,
  lacking: Lacking,
  start: () => Promise<GearmandDatabase>,
  others: (queue: GearmandQueue) => void,
): void {
  const submitted = assortedJobs(jobs, inADay)
  sourceContract(
    {
      name,
      lacking: lacksGearmand || lacking,
      jobs,
      batch,
      async start(target) {
        const database = await start()
        const gearmand = await Gearmand.start(...database.words)
        await gearmand.submit(submitted)
        await gearmand.stop()
        database.keep()
        const { address, columns, table, words } = database
        const contents = (): string => database.sql(`SELECT ${columns} FROM ${table} ORDER BY 1, 2`)
        return {
          address,
          database,
          contents,
          refill: () => (database.reset ? database.reset() : database.sql(database.refill)),
          arrived: () => expectArrived(target, submitted),
          emptied: () => expect(contents()).toBe(''),
          async restored(before) {
            expect(contents()).toBe(before)
            const gearmand = await Gearmand.start(...words)
            const found = await gearmand.jobs()
            await gearmand.stop()
            expect(found).toBe(jobs)
          },
          stop: () => database.stop(),
        }
      },
    },
    (queue) => {
      const { move } = queue
      const sql = (text: string): string => {
        const { database } = queue.fixture
        return database.sql(text.replace('$', database.table))
      }
      const left = (): number => Number(sql('SELECT count(*) FROM $'))

      test('a move that was killed after the removal treats identical later jobs as others', async () => {
        await queue.moveAndDie()
        // The same jobs again, while the others still wait.
        expect(left()).toBe(jobs - batch)
        sql(queue.fixture.database.refill)
        // Removed jobs came once more; their unique ids join the jobs that wait.
        const counts = { read: jobs, known: 0, joined: batch, removed: jobs }
        expect((await move(true)).counts).toMatchObject(counts)
        expect(left()).toBe(0)
        expect(() => sql('SELECT * FROM crossgear_removed')).toThrow()
      })

      // Built by hand.
      test('an invalid row is reported and left, and old tables without run times are read', async () => {
        sql('ALTER TABLE $ DROP COLUMN when_to_run')
        sql("INSERT INTO $ VALUES ('p', 'mail', 7, 'x')")
        const { counts } = await move(true)
        expect(counts).toMatchObject({ created: jobs, rejected: 1, removed: jobs })
        expect(left()).toBe(1)
        sql('ALTER TABLE $ ADD when_to_run INT')
      })

      others(Object.assign(queue, { submitted }))
    },
  )
}

/** A server tells of those who have its database open. */
export function testOthersAreReported(queue: GearmandQueue): void {
  test('a database that others have open is reported', async () => {
    const gearmand = await Gearmand.start(...queue.fixture.database.words)
    expect(await queue.liveReason()).toContain('other connections')
    await gearmand.stop()
  })
}
