import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sqlite from 'node-sqlite3-wasm'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makePlan } from '../../src/acts/plan.ts'
import { rollback } from '../../src/acts/rollback.ts'
import { run, type RunCounts } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import { openSource } from '../../src/sources/open-source.ts'
import { verifyMoved } from '../../src/acts/verify.ts'
import { Gearmand, lacksGearmand } from '../support/gearmand.ts'
import { assortedJobs, expectArrived } from '../support/jobs.ts'
import { TestTarget } from '../support/target.ts'

const everything = new Selection()
/** gearmand's own loss. */
const kept = (unique: string): string => unique.slice(0, 63)
const inADay = Math.floor(Date.now() / 1000) + 86_400

describe.skipIf(lacksGearmand || lacksRedis)(
  'needs gearmand and redis-server: gearmand+sqlite',
  () => {
    let folder: string
    let path: string
    let target: TestTarget
    const submitted = assortedJobs(300, inADay)

    beforeAll(async () => {
      target = await TestTarget.open()
      folder = mkdtempSync(join(tmpdir(), 'xg-sqlite-'))
      path = join(folder, 'queue.sqlite')
      const gearmand = await Gearmand.start('-q', 'libsqlite3', '--libsqlite3-db', path)
      await gearmand.submit(submitted)
      await gearmand.stop()
      copyFileSync(path, `${path}.written`)
    })
    afterAll(async () => {
      await target.close()
      rmSync(folder, { recursive: true })
    })
    /** A queue that a real gearmand wrote and left. */
    beforeEach(() => copyFileSync(`${path}.written`, path))
    afterEach(async () => {
      expect(await target.violations()).toEqual([])
      await target.clear()
    })

    function change(sql: string): void {
      const db = new sqlite.Database(path)
      db.exec(sql)
      db.close()
    }

    const open = (isMove = false) =>
      openSource(`gearmand+sqlite://${path}`, { isMove, functions: [] })

    const move = async (isMove: boolean, name = 'm'): Promise<RunCounts> =>
      (await target.take(await open(isMove), { name, isMove, batch: 37 })).counts

    const verify = async () => target.verify(await open(), 'm')

    test('the unfinished transaction of a killed program is rolled back before jobs are read', async () => {
      const half = join(folder, 'half.sqlite')
      const db = new sqlite.Database(path)
      db.exec('PRAGMA cache_size = 1; BEGIN')
      // Pages of an open transaction are in the file as soon as there is no room for them.
      db.exec("UPDATE gearman_queue SET function_name = 'spoilt' || rowid, data = zeroblob(9000)")
      copyFileSync(path, half)
      copyFileSync(`${path}-journal`, `${half}-journal`)
      db.exec('ROLLBACK')
      db.close()
      const source = await openSource(`gearmand+sqlite://${half}`, { isMove: false, functions: [] })
      const names = new Set<string>()
      let jobs = 0
      for await (const { records } of source.pages(undefined, { jobs: 100, bytes: 1e6 })) {
        jobs += records.length
        for (const { fn } of records) names.add(fn)
      }
      await source.close()
      expect(jobs).toBe(300)
      expect([...names].sort()).toEqual(['mail', 'report-0', 'report-1'])
      expect(existsSync(`${half}-journal`)).toBe(false)
    })

    test('every job arrives once, as its client submitted it', async () => {
      expect(await move(false)).toMatchObject({ read: 300, created: 300, rejected: 0 })
      await expectArrived(target, submitted)
      const { isEqual, rows } = await verify()
      expect(isEqual).toBe(true)
      expect(rows.reduce((sum, { equal }) => sum + equal, 0)).toBe(300)
    })

    test('jobs of a level come in the order in which they were submitted', async () => {
      await move(false)
      const queued = await target.store.steps.claim({
        by: 'named',
        groups: [{ lanes: ['mail'] }],
        max: 1_000,
      })
      const order = (level: number): string[] =>
        queued.filter((job) => job.level === level).map((job) => String(job.unique))
      const high = submitted.filter(
        (job) => job.fn === 'mail' && job.priority === 'high' && job.epoch === undefined,
      )
      expect(order(8)).toEqual(high.map(({ unique }) => kept(unique)))
      await target.store.steps.finish(
        'mail',
        queued.map((job) => ({ ...job, kind: 'complete', output: Buffer.alloc(0) })),
      )
    })

    test('a second run imports nothing', async () => {
      await move(false)
      expect(await move(false)).toMatchObject({ read: 300, created: 0, known: 300 })
      expect(await move(false, 'another')).toMatchObject({ created: 0, known: 300 })
    })

    test('a move empties the table, and verify proves that all arrived', async () => {
      expect(await move(true)).toMatchObject({ created: 300, removed: 300 })
      const source = await open()
      expect(await source.total()).toBe(0)
      await source.close()
      const parts = { imports: target.store.imports, names: target.names, options: { name: 'm' } }
      expect(await verifyMoved(parts)).toMatchObject({ isEqual: true })
    })

    test('a rollback puts moved jobs back, and a real gearmand hands them out again', async () => {
      await move(true)
      const source = await open(true)
      const parts = { imports: target.store.imports, names: target.names, name: 'm', source }
      expect(await rollback(parts)).toMatchObject({ undone: 300, restored: 300, begun: 0 })
      expect(await source.total()).toBe(300)
      await source.close()
      const gearmand = await Gearmand.start('-q', 'libsqlite3', '--libsqlite3-db', path)
      try {
        const connection = await gearmand.connect()
        const status = await connection.lines('status')
        await connection.end()
        const totals = status.map((line) => Number(line.split('\t')[1]))
        expect(totals.reduce((sum, total) => sum + total, 0)).toBe(300)
      } finally {
        await gearmand.stop()
      }
    })

    test('a rollback of a copy takes back the jobs that no worker has begun', async () => {
      await move(false)
      const [begun] = await target.store.steps.claim({
        by: 'named',
        groups: [{ lanes: ['mail'] }],
        max: 1,
      })
      const parts = { imports: target.store.imports, names: target.names, name: 'm' }
      expect(await rollback(parts)).toMatchObject({ undone: 299, begun: 1, restored: 0 })
      expect(await target.jobs('mail')).toHaveLength(1)
      if (begun)
        await target.store.steps.finish('mail', [
          { ...begun, kind: 'complete', output: Buffer.alloc(0) },
        ])
    })

    test('verify reports missing and changed jobs', async () => {
      await move(false)
      await target.server.ask('HSET', 'job:mail:1', 'input', 'another')
      change("INSERT INTO gearman_queue VALUES ('new', 'mail', 1, x'00', 0)")
      const { isEqual, rows } = await verify()
      expect(isEqual).toBe(false)
      const mail = rows.find(({ lane }) => lane === 'mail')
      expect(mail).toMatchObject({ missing: 1, different: 1 })
      expect(mail?.checksums[0]).not.toBe(mail?.checksums[1])
    })

    test('a plan counts by function, state and size, and the jobs that stay', async () => {
      change(`INSERT INTO gearman_queue VALUES ('${'u'.repeat(65)}', 'mail', 1, x'00', 0)`)
      change("INSERT INTO gearman_queue VALUES ('p', 'mail', 7, x'00', 0)")
      const source = await open()
      const plan = await makePlan(source, new Selection({ except: ['report-1'] }), {})
      await source.close()
      const mail = submitted.filter(({ fn, epoch }) => fn === 'mail' && epoch === undefined)
      expect(plan.rows.find(({ fn, state }) => fn === 'mail' && state === 'queued')).toMatchObject({
        jobs: mail.length,
        largestBytes: 3_000,
        bytes: mail.reduce((sum, { data }) => sum + data.length, 0),
      })
      expect(plan.rejects.map(({ reason, jobs }) => [reason, jobs]).sort()).toEqual([
        ['bad_row', 1],
        ['unique_too_long', 1],
      ])
      expect(plan.leftOut).toBe(submitted.filter(({ fn }) => fn === 'report-1').length)
    })

    test('a database that a server has open is not read, and never moved from', async () => {
      // Debian's gearmand does not start on empty data that it wrote as NULL itself.
      change("UPDATE gearman_queue SET data = x'' WHERE data IS NULL")
      const gearmand = await Gearmand.start('-q', 'libsqlite3', '--libsqlite3-db', path)
      try {
        const source = await open()
        expect(source.liveReason).toContain('has')
        const parts = { source, target: target.as('m'), selection: everything }
        await expect(run({ ...parts, options: { name: 'm' } })).rejects.toThrow('use --while-live')
        await source.close()
        await expect(open(true)).rejects.toThrow('stop it before --move')
      } finally {
        await gearmand.stop()
      }
    })

    test('a partly destroyed file is read up to the damage, then reported in one clear line', async () => {
      const bytes = readFileSync(path)
      bytes.fill(0xff, bytes.length - 4096, bytes.length - 16)
      writeFileSync(path, bytes)
      const moving = move(false)
      await expect(moving).rejects.toMatchObject({
        code: 'UNREACHABLE',
        message: expect.stringMatching(/malformed\.$/) as string,
      })
    })

    test('a lock that a killed run left behind blocks no other run', async () => {
      mkdirSync(`${path}.lock`)
      expect(await move(true)).toMatchObject({ created: 300 })
    })

    test('a run goes on when another program is done with the file', async () => {
      const source = await open()
      const other = new sqlite.Database(path)
      other.exec('BEGIN IMMEDIATE')
      const total = expect(source.total()).resolves.toBe(300)
      const page = source.pages(undefined, { jobs: 10, bytes: 1e6 }).next()
      const read = expect(page).resolves.toMatchObject({ value: { records: { length: 10 } } })
      other.exec('ROLLBACK')
      other.close()
      await Promise.all([total, read])
      await source.close()
    })

    test('a file in WAL mode is read with the changes beside it, which stay there', async () => {
      const wal = join(folder, 'wal.sqlite')
      const db = new sqlite.Database(path)
      db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL')
      db.exec("DELETE FROM gearman_queue WHERE function_name = 'mail'")
      for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${wal}${end}`)
      db.close()
      const files = () => ['', '-wal'].map((end) => readFileSync(`${wal}${end}`).toString('hex'))
      const before = files()
      const opening = openSource(`gearmand+sqlite://${wal}`, { isMove: false, functions: [] })
      await expect(opening.then((source) => source.total())).resolves.toBe(
        submitted.filter(({ fn }) => fn !== 'mail').length,
      )
      await (await opening).close()
      expect(files()).toEqual(before)
    })

    test('a file in WAL mode can be moved from, and stays in that mode', async () => {
      change('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL')
      expect(await move(true)).toMatchObject({ removed: 300 })
      expect(readFileSync(path).subarray(18, 20)).toEqual(Buffer.from([2, 2]))
    })

    test('old tables without run times are read', async () => {
      change('ALTER TABLE gearman_queue DROP COLUMN when_to_run')
      expect(await move(false)).toMatchObject({ created: 300, rejected: 0 })
    })

    test.each([
      ['gearmand+sqlite:///no/such.sqlite', 'UNREACHABLE', '/no/such.sqlite'],
      ['PATH?table=other', 'UNREACHABLE', 'has no table other'],
      ['PATH?tabel=x', 'USAGE', 'the parameter tabel'],
    ])('%s: one clear line', async (address, code, line) => {
      const url = address.replace('PATH', `gearmand+sqlite://${path}`)
      const opening = openSource(url, { isMove: false, functions: [] })
      await expect(opening).rejects.toMatchObject({
        code,
        message: expect.stringContaining(line) as string,
      })
    })
  },
)
