import type { Lacking } from '@crossgear/tools/lacks'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { run, type RunCounts } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import { verifyMoved } from '../../src/acts/verify.ts'
import { openSource } from '../../src/sources/open-source.ts'
import type { Source } from '../../src/source.ts'
import { Gearmand, lacksGearmand, type Submission } from './gearmand.ts'
import { assortedJobs, expectArrived } from './jobs.ts'
import { TestTarget } from './target.ts'

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

/** A queue in a database, for tests of this kind alone. */
export interface GearmandQueue {
  readonly database: GearmandDatabase
  readonly target: TestTarget
  /** Jobs that a real gearmand has taken. */
  readonly submitted: readonly Submission[]
  /** Opens it once nobody else has it open. */
  readonly open: (isMove?: boolean) => Promise<Source>
  readonly openNow: (isMove: boolean) => Promise<Source>
  /** Why it must not be read now. */
  readonly liveReason: () => Promise<string | undefined>
  readonly move: (isMove: boolean, name?: string) => Promise<RunCounts>
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
  describe.skipIf(lacksGearmand || lacksRedis || lacking)(name, () => {
    let [database, target] = [] as unknown as [GearmandDatabase, TestTarget]
    const submitted = assortedJobs(jobs, inADay)

    beforeAll(async () => {
      ;[database, target] = await Promise.all([start(), TestTarget.open()])
      const gearmand = await Gearmand.start(...database.words)
      await gearmand.submit(submitted)
      await gearmand.stop()
      database.keep()
    })
    afterAll(() => Promise.all([database.stop(), target.close()]))
    beforeEach(() => {
      if (database.reset) database.reset()
      else database.sql(database.refill)
    })
    afterEach(async () => {
      expect(await target.violations()).toEqual([])
      await target.clear()
    })

    const openNow = (isMove: boolean): Promise<Source> =>
      openSource(database.address, { isMove, functions: [] })
    const liveReason = async (): Promise<string | undefined> => {
      const source = await openNow(false)
      await source.close()
      return source.liveReason
    }
    /** A server still counts connections for a moment after they were closed. */
    const open = async (isMove = false): Promise<Source> => {
      let source: Source | undefined
      const reason = async (): Promise<string | undefined> => {
        await source?.close()
        source = await openNow(isMove)
        return source.liveReason
      }
      await expect.poll(reason).toBeUndefined()
      return source as Source
    }
    const move = async (isMove: boolean, as = 'p'): Promise<RunCounts> =>
      (await target.take(await open(isMove), { name: as, isMove, batch })).counts
    const rows = (): string =>
      database.sql(`SELECT ${database.columns} FROM ${database.table} ORDER BY 1, 2`)
    const left = (): number => Number(database.sql(`SELECT count(*) FROM ${database.table}`))

    test('jobs of a real gearmand arrive once, as their client submitted them', async () => {
      expect(await move(false)).toMatchObject({ read: jobs, created: jobs, rejected: 0 })
      await expectArrived(target, submitted)
      const { isEqual, rows: verified } = await target.verify(await open(), 'p')
      expect(isEqual).toBe(true)
      expect(verified.reduce((sum, { equal }) => sum + equal, 0)).toBe(jobs)
      expect(await move(false)).toMatchObject({ read: jobs, created: 0, known: jobs })
      expect(await move(false, 'another')).toMatchObject({ created: 0, known: jobs })
    })

    test('a move empties the table, and verify proves that all arrived', async () => {
      expect(await move(true)).toMatchObject({ created: jobs, removed: jobs })
      expect(left()).toBe(0)
      const source = await open()
      expect(await source.total()).toBe(0)
      await source.close()
      const parts = { imports: target.store.imports, names: target.names, options: { name: 'p' } }
      expect(await verifyMoved(parts)).toMatchObject({ isEqual: true })
    })

    test('a rollback puts moved jobs back, and a real gearmand hands them out again', async () => {
      const before = rows()
      await move(true)
      const counts = await target.rollBack(await open(true), 'p')
      expect(counts).toMatchObject({ undone: jobs, restored: jobs, begun: 0 })
      expect(rows()).toBe(before)
      const gearmand = await Gearmand.start(...database.words)
      try {
        const connection = await gearmand.connect()
        const totals = (await connection.lines('status')).map((line) => Number(line.split('\t')[1]))
        await connection.end()
        expect(totals.reduce((sum, total) => sum + total, 0)).toBe(jobs)
      } finally {
        await gearmand.stop()
      }
    })

    test('a move that was killed after the removal treats identical later jobs as others', async () => {
      const killed = target.as('p')
      killed.moved = () => Promise.reject(new Error('killed'))
      const source = await open(true)
      const parts = { source, target: killed, ledger: killed, selection: new Selection() }
      const options = { name: 'p', isMove: true, batch }
      await expect(run({ ...parts, options })).rejects.toThrow('killed')
      await source.close()
      // The same jobs again, while the others still wait.
      expect(left()).toBe(jobs - batch)
      database.sql(database.refill)
      // Removed jobs came once more; their unique ids join the jobs that wait.
      const counts = { read: jobs, known: 0, joined: batch, removed: jobs }
      expect(await move(true)).toMatchObject(counts)
      expect(left()).toBe(0)
      expect(() => database.sql('SELECT * FROM crossgear_removed')).toThrow()
    })

    test('a copy that is stopped after each page continues after it', async () => {
      let created = 0
      for (let pages = 1; ; pages += 1) {
        const stop = new AbortController()
        const source = await open()
        const [store, selection] = [target.as('p'), new Selection()]
        const { counts, isStopped } = await run({
          ...{ source, target: store, ledger: store, selection, signal: stop.signal },
          options: { name: 'p', batch },
          onProgress: () => stop.abort(),
        })
        await source.close()
        created += counts.created
        // The last row of a page may be read twice, and three more pages are on their way when it stops.
        expect(counts.read).toBeLessThanOrEqual(4 * batch)
        if (!isStopped || pages > 10) break
      }
      expect(created).toBe(jobs)
    })

    // Built by hand.
    test('an invalid row is reported and left, and old tables without run times are read', async () => {
      database.sql(`ALTER TABLE ${database.table} DROP COLUMN when_to_run`)
      database.sql(`INSERT INTO ${database.table} VALUES ('p', 'mail', 7, 'x')`)
      expect(await move(true)).toMatchObject({ created: jobs, rejected: 1, removed: jobs })
      expect(left()).toBe(1)
      database.sql(`ALTER TABLE ${database.table} ADD when_to_run INT`)
    })

    const queue: GearmandQueue = {
      ...{ submitted, open, openNow, liveReason, move },
      get database() {
        return database
      },
      get target() {
        return target
      },
    }
    others(queue)
  })
}

/** Expects one clear line that says why an address cannot be opened, and no password in it. */
export async function expectRefusal(address: string, code: string, line: string): Promise<void> {
  const opening = openSource(address, { isMove: false, functions: [] })
  await expect(opening).rejects.toMatchObject({
    code,
    message: expect.stringContaining(line) as string,
  })
  await expect(opening).rejects.not.toThrow('wrong')
}
