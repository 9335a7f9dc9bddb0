import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sqlite from 'node-sqlite3-wasm'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openSource } from '../src/sources/open-source.ts'
import { rollback } from '../src/acts/rollback.ts'
import { run, type RunCounts } from '../src/acts/run.ts'
import { Selection } from '../src/acts/selection.ts'
import { TestTarget } from './support/target.ts'

const laterSeconds = Math.floor(Date.now() / 1000) + 86_400
const jid = '"jid":"jid-number-1"'
const job = `{${jid},"queue":"default","jobtype":"mail","args":["x"],"created_at":"2026-08-01T10:00:00Z"}`

/** Sources that are built by hand, each with one and the same job in it. */
interface Built {
  readonly address: () => string
  readonly fill: () => Promise<void>
  /** Contents of the source beside its jobs. */
  readonly beside: () => Promise<unknown>
}

describe.skipIf(lacksRedis)('needs redis-server: what is killed between two steps', () => {
  let folder: string
  let server: RedisServer
  let target: TestTarget

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'xg-between-'))
    ;[server, target] = await Promise.all([RedisServer.start(), TestTarget.open()])
  })
  afterAll(async () => {
    await Promise.all([server.stop(), target.close()])
    rmSync(folder, { recursive: true })
  })
  afterEach(async () => {
    expect(await target.violations()).toEqual([])
    await target.clear()
    await server.ask('FLUSHALL')
  })

  const inTable = (sql: string): unknown => {
    const db = new sqlite.Database(join(folder, 'queue.sqlite'))
    try {
      return db.all(sql)
    } finally {
      db.close()
    }
  }
  const keysBeside = () => server.ask('KEYS', 'crossgear:removed:*')
  const built: Readonly<Record<string, Built>> = {
    'gearmand+sqlite': {
      address: () => `gearmand+sqlite://${join(folder, 'queue.sqlite')}`,
      fill: () => {
        inTable(`CREATE TABLE IF NOT EXISTS gearman_queue (unique_key TEXT, function_name TEXT, priority INTEGER,
          data BLOB, when_to_run INTEGER, PRIMARY KEY (unique_key, function_name))`)
        inTable("INSERT INTO gearman_queue VALUES ('u', 'mail', 1, x'00', 0)")
        return Promise.resolve()
      },
      beside: () =>
        Promise.resolve(inTable("SELECT name FROM sqlite_master WHERE name LIKE 'crossgear%'")),
    },
    'gearmand+redis': {
      address: () => `gearmand+redis://127.0.0.1:${server.port}`,
      fill: async () => {
        await server.ask('HSET', '_gear_-mail-u', 'data', 'x', 'priority', '1')
      },
      beside: keysBeside,
    },
    'faktory+redis': {
      address: () => `faktory+redis://127.0.0.1:${server.port}`,
      fill: async () => {
        await server.ask('SADD', 'queues', 'default')
        await server.ask('LPUSH', 'q:default', job)
      },
      beside: keysBeside,
    },
  }

  /** Moves all of it. `isKilled`: it ends between the removal at the source and the note of it. */
  async function move(address: string, isKilled = false): Promise<RunCounts> {
    const source = await openSource(address, { isMove: true, functions: [] })
    const into = target.as('m')
    if (isKilled) into.moved = () => Promise.reject(new Error('killed'))
    try {
      const options = { name: 'm', isMove: true }
      const parts = { source, target: into, ledger: target.as('m'), selection: new Selection() }
      return (await run({ ...parts, options })).counts
    } finally {
      await source.close()
    }
  }

  async function workOff(): Promise<number> {
    const done = await target.store.steps.claim({
      by: 'named',
      groups: [{ lanes: ['mail'] }],
      max: 10,
    })
    for (const one of done)
      await target.store.steps.finish('mail', [
        { ...one, kind: 'complete', output: Buffer.alloc(0) },
      ])
    return done.length
  }

  test.each(Object.entries(built))(
    '%s: a move that was killed after the removal treats an identical later job as another one',
    async (_name, { address, fill, beside }) => {
      await fill()
      await expect(move(address(), true)).rejects.toThrow('killed')
      expect(await workOff()).toBe(1)
      await fill()
      expect(await move(address())).toMatchObject({ read: 1, created: 1, known: 0, removed: 1 })
      expect(await workOff()).toBe(1)
      expect(String(await beside())).toBe('')
    },
  )

  test('a rollback that was killed half way leaves its jobs among the dead, and takes them back when repeated', async () => {
    const text = (number: number, more = ''): string =>
      `{"jid":"jid-number-${number}","queue":"default","jobtype":"mail","args":["x"],"retry":5${more}}`
    await server.ask('SADD', 'queues', 'default')
    await server.ask('LPUSH', 'q:default', text(1))
    await server.ask('ZADD', 'scheduled', String(laterSeconds), text(2))
    const failure = ',"failure":{"retry_count":1,"remaining":4,"message":"no","errtype":"E"}'
    await server.ask('ZADD', 'retries', String(laterSeconds + 1), text(3, failure))
    await server.ask('ZADD', 'dead', String(laterSeconds + 2), text(4, failure))
    const address = `faktory+redis://127.0.0.1:${server.port}`
    await move(address)
    const source = await openSource(address, { isMove: true, functions: [] })
    const restore = source.restore?.bind(source)
    const parts = { imports: target.store.imports, names: target.names, name: 'm', source }
    source.restore = () => Promise.reject(new Error('killed'))
    await expect(rollback(parts)).rejects.toThrow('killed')
    expect(await target.server.ask('ZCARD', 'queue:mail:scheduled')).toBe('0')
    expect(await target.server.ask('ZCARD', 'xg:dead:mail')).toBe('4')
    expect(await workOff()).toBe(0)
    expect(await target.violations()).toEqual([])
    if (restore) source.restore = restore
    expect(await rollback(parts)).toMatchObject({ undone: 4, restored: 4, begun: 0 })
    await source.close()
    expect(await server.ask('LLEN', 'q:default')).toBe('1')
    const scores = await Promise.all(
      ['scheduled', 'retries', 'dead'].map((set) =>
        server.ask('ZRANGE', set, '0', '-1', 'WITHSCORES'),
      ),
    )
    expect(scores.map((members) => Number(/\d{9,}\s*$/.exec(members)?.[0]))).toEqual([
      laterSeconds,
      laterSeconds + 1,
      laterSeconds + 2,
    ])
  })
})
