import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'
import sqlite from 'node-sqlite3-wasm'
import { cpuSeconds } from './processes.ts'

const program = fileURLToPath(new URL('../../apps/gateway/bin/crossgear.js', import.meta.url))
const inADay = Math.floor(Date.now() / 1000) + 86_400
const lookEveryMs = 50

/** NULs, no UTF-8, empty, long; one of 5 MB. */
function payloadOf(at: number): Buffer {
  if (at === 7) return Buffer.alloc(5_000_000, 7)
  if (at % 10 === 0) return Buffer.alloc(0)
  if (at % 10 === 1) return Buffer.from([0, 255, at & 255, (at >> 8) & 255, at >> 16, 0])
  return Buffer.from(`job ${at} `.padEnd(100, '.'))
}

/** The table that gearmand creates. */
export function fillTable(path: string, jobs: number): void {
  const db = new sqlite.Database(path)
  db.exec(`CREATE TABLE gearman_queue (unique_key TEXT, function_name TEXT, priority INTEGER, data BLOB,
    when_to_run INTEGER, PRIMARY KEY (unique_key, function_name))`)
  db.exec('BEGIN')
  const insert = db.prepare('INSERT INTO gearman_queue VALUES (?, ?, ?, ?, ?)')
  for (let at = 0; at < jobs; at += 1) {
    const unique = at % 2 === 0 ? `u${at}` : createHash('sha256').update(String(at)).digest('hex')
    insert.run([unique, `report-${at % 5}`, at % 3, payloadOf(at), at % 20 === 19 ? inADay : 0])
  }
  insert.finalize()
  db.exec('COMMIT')
  db.close()
}

/** Queues and the set of scheduled jobs, as Faktory 1.10 keeps them. */
export async function fillFaktory(redis: Redis, jobs: number): Promise<void> {
  await redis.sadd('queues', 'default', 'bulk')
  for (let first = 0; first < jobs; first += 1_000) {
    const pipeline = redis.pipeline()
    for (let at = first; at < Math.min(jobs, first + 1_000); at += 1) {
      const queue = at % 2 === 0 ? 'default' : 'bulk'
      const args = `["${'.'.repeat(at === 7 ? 5_000_000 : 100)}",${at}]`
      const text = `{"jid":"jid-number-${at}","queue":"${queue}","jobtype":"Mail","args":${args},"created_at":"2026-08-01T10:00:00Z"}`
      if (at % 20 === 19) pipeline.zadd('scheduled', inADay + at / 1000, text)
      else pipeline.lpush(`q:${queue}`, text)
    }
    await pipeline.exec()
  }
}

export interface Ended {
  readonly code: number | null
  readonly seconds: number
  readonly peakMb: number
  /** Processor time, start-up included. */
  readonly cpuSeconds: number
  readonly out: string
}

/** Runs the command. */
export async function migrate(words: readonly string[]): Promise<Ended> {
  const startedMs = Date.now()
  const child = spawn(process.execPath, [program, 'migrate', ...words])
  let out = ''
  let peakKb = 0
  let usedSeconds = 0
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.pipe(process.stderr)
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peakKb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? peakKb)
      usedSeconds = cpuSeconds(child.pid ?? 0)
    } catch {
      clearInterval(look) // it has ended
    }
  }, lookEveryMs)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearInterval(look)
  const seconds = (Date.now() - startedMs) / 1000
  return { code, seconds, peakMb: Math.round(peakKb / 1024), cpuSeconds: usedSeconds, out }
}
