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
import { expect, test } from 'vitest'
import { makePlan } from '../../src/acts/plan.ts'
import { rollback } from '../../src/acts/rollback.ts'
import { run } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import { openSource } from '../../src/sources/open-source.ts'
import { Gearmand } from '@crossgear/tools/gearmand'
import { gearmandSqlContract } from '../support/gearmand-sql-contract.ts'
import { expectRefusal } from '../support/source-contract.ts'

const everything = new Selection()
/** gearmand's own loss. */
const kept = (unique: string): string => unique.slice(0, 63)
const folder = mkdtempSync(join(tmpdir(), 'xg-sqlite-'))
const path = join(folder, 'queue.sqlite')

/** Runs SQL; its rows, columns separated by `|`. */
function change(sql: string): string {
  const db = new sqlite.Database(path)
  try {
    if (!sql.startsWith('SELECT')) db.exec(sql)
    const rows = sql.startsWith('SELECT') ? (db.all(sql) as Record<string, unknown>[]) : []
    return rows.map((row) => Object.values(row).join('|')).join('\n')
  } finally {
    db.close()
  }
}

gearmandSqlContract(
  'needs gearmand and redis-server: gearmand+sqlite',
  false,
  () =>
    Promise.resolve({
      words: ['-q', 'libsqlite3', '--libsqlite3-db', path],
      address: `gearmand+sqlite://${path}`,
      table: 'gearman_queue',
      columns:
        "function_name, rtrim(unique_key, char(0)), priority, when_to_run, hex(ifnull(data, ''))",
      sql: change,
      keep: () => copyFileSync(path, `${path}.written`),
      refill: `ATTACH '${path}.written' AS kept; DELETE FROM gearman_queue;
        INSERT INTO gearman_queue SELECT * FROM kept.gearman_queue`,
      reset: () => copyFileSync(`${path}.written`, path),
      stop: () => {
        rmSync(folder, { recursive: true })
        return Promise.resolve()
      },
    }),
  (queue) => {
    const { open, move, submitted } = queue
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
      const source = await openSource(`gearmand+sqlite://${half}`, {
        isMove: false,
        isStopped: true,
        functions: [],
      })
      const names = new Set<string>()
      let jobs = 0
      for await (const { records } of source.pages(undefined, { jobs: 100, bytes: 1e6 })) {
        jobs += records.length
        for (const { fn } of records) names.add(fn)
      }
      await source.close()
      expect(jobs).toBe(200)
      expect([...names].sort()).toEqual(['mail', 'report-0', 'report-1'])
      expect(existsSync(`${half}-journal`)).toBe(false)
    })

    test('jobs of a level come in the order in which they were submitted', async () => {
      await move(false)
      const queued = await queue.target.store.steps.claim({
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
      await queue.target.store.steps.finish(
        'mail',
        queued.map((job) => ({ ...job, kind: 'complete', output: Buffer.alloc(0) })),
      )
    })

    test('a rollback of a copy takes back the jobs that no worker has begun', async () => {
      await move(false)
      const [begun] = await queue.target.store.steps.claim({
        by: 'named',
        groups: [{ lanes: ['mail'] }],
        max: 1,
      })
      const parts = { imports: queue.target.store.imports, names: queue.target.names, name: 'm' }
      expect(await rollback(parts)).toMatchObject({ undone: 199, begun: 1, restored: 0 })
      expect(await queue.target.jobs('mail')).toHaveLength(1)
      if (begun)
        await queue.target.store.steps.finish('mail', [
          { ...begun, kind: 'complete', output: Buffer.alloc(0) },
        ])
    })

    test('verify reports missing and changed jobs', async () => {
      await move(false)
      await queue.target.server.ask('HSET', 'job:mail:1', 'input', 'another')
      change("INSERT INTO gearman_queue VALUES ('new', 'mail', 1, x'00', 0)")
      const { isEqual, rows } = await queue.target.verify(await open(), 'm')
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
        const source = await queue.openNow(false)
        expect(source.liveReason).toContain('has')
        const parts = { source, target: queue.target.as('m'), selection: everything }
        await expect(run({ ...parts, options: { name: 'm' } })).rejects.toThrow('use --while-live')
        await source.close()
        await expect(queue.openNow(true)).rejects.toThrow('stop it before --move')
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
      expect((await move(true)).counts).toMatchObject({ created: 200 })
    })

    test('a run goes on when another program is done with the file', async () => {
      const source = await open()
      const other = new sqlite.Database(path)
      other.exec('BEGIN IMMEDIATE')
      const total = expect(source.total?.()).resolves.toBe(200)
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
      const opening = openSource(`gearmand+sqlite://${wal}`, {
        isMove: false,
        isStopped: true,
        functions: [],
      })
      await expect(opening.then((source) => source.total?.())).resolves.toBe(
        submitted.filter(({ fn }) => fn !== 'mail').length,
      )
      await (await opening).close()
      expect(files()).toEqual(before)
    })

    test('a file in WAL mode can be moved from, and stays in that mode', async () => {
      change('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL')
      expect((await move(true)).counts).toMatchObject({ removed: 200 })
      expect(readFileSync(path).subarray(18, 20)).toEqual(Buffer.from([2, 2]))
    })

    test.each([
      ['gearmand+sqlite:///no/such.sqlite', 'UNREACHABLE', '/no/such.sqlite'],
      ['PATH?table=other', 'UNREACHABLE', 'has no table other'],
      ['PATH?tabel=x', 'USAGE', 'the parameter tabel'],
    ])('%s: one clear line', async (address, code, line) => {
      const url = address.replace('PATH', `gearmand+sqlite://${path}`)
      await expectRefusal(url, code, line)
    })
  },
)
