/** Moves 100,000 jobs (or so many as are asked for) into a local store, killed ten times and in one go: `npm run bench:migrate`. */
import { spawn } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import sqlite from 'node-sqlite3-wasm'
import { RedisServer } from '@crossgear/tools/redis-server'

const jobs = Number(process.argv[2] ?? 100_000)
const program = fileURLToPath(new URL('../../apps/gateway/bin/crossgear.js', import.meta.url))
const inADay = Math.floor(Date.now() / 1000) + 86_400
const kills = 10

/** NULs, no UTF-8, empty, long; one of 5 MB. */
function payloadOf(at: number): Buffer {
  if (at === 7) return Buffer.alloc(5_000_000, 7)
  if (at % 10 === 0) return Buffer.alloc(0)
  if (at % 10 === 1) return Buffer.from([0, 255, at & 255, (at >> 8) & 255, at >> 16, 0])
  return Buffer.from(`job ${at} `.padEnd(100, '.'))
}

/** The table that gearmand creates. */
function fillTable(path: string): void {
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

async function fillFaktory(server: RedisServer): Promise<void> {
  const redis = server.connect()
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
  redis.disconnect()
}

interface Ended {
  readonly code: number | null
  readonly seconds: number
  readonly peakMb: number
  readonly out: string
}

/** Runs the command; it is killed after so many milliseconds. */
async function migrate(words: readonly string[], killAfterMs?: number): Promise<Ended> {
  const startedMs = Date.now()
  const child = spawn(process.execPath, [program, 'migrate', ...words])
  let out = ''
  let peakKb = 0
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.pipe(process.stderr)
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peakKb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? peakKb)
    } catch {
      clearInterval(look) // it has ended
    }
  }, 50)
  const exited = once(child, 'exit') as Promise<[number | null]>
  if (killAfterMs !== undefined) {
    await Promise.race([delay(killAfterMs), exited])
    child.kill('SIGKILL')
  }
  const [code] = await exited
  clearInterval(look)
  return { code, seconds: (Date.now() - startedMs) / 1000, peakMb: Math.round(peakKb / 1024), out }
}

async function measure(name: string, from: string, target: RedisServer): Promise<void> {
  const sides = ['--from', from, '--to', target.url]
  const whole = await migrate(['run', ...sides])
  const rate = Math.round(jobs / whole.seconds)
  process.stdout.write(
    `${name}: ${jobs} jobs in ${whole.seconds.toFixed(1)} s with the start of the program, ${rate}/s, ${whole.peakMb} MB at most\n`,
  )
  process.stdout.write(`${name}: ${whole.out.trim().split('\n').at(-1) ?? ''}\n`)
  const verified = await migrate(['verify', ...sides])
  process.stdout.write(
    `${name}: verify ends with ${verified.code}: ${verified.out.trim().split('\n').at(-1) ?? ''}\n`,
  )
  await target.ask('FLUSHALL')
  const afterMs = (whole.seconds * 1000) / kills
  let killed = 0
  for (let time = 0; time < kills; time += 1) {
    const { code } = await migrate(
      ['run', ...sides, '--move'],
      300 + randomInt(Math.ceil(2 * afterMs)),
    )
    if (code === null) killed += 1
  }
  const rest = await migrate(['run', ...sides, '--move'])
  const proved = await migrate(['verify', ...sides, '--move'])
  process.stdout.write(
    `${name}: moved, killed ${killed} times; the last run ends with ${rest.code}: ${rest.out.trim().split('\n').at(-1) ?? ''}\n`,
  )
  process.stdout.write(
    `${name}: verify ends with ${proved.code}: ${proved.out.trim().split('\n').at(-1) ?? ''}\n`,
  )
  const counted = await target.ask(
    'EVAL',
    "local n = 0 for _, key in ipairs(redis.call('KEYS', 'job:*')) do n = n + 1 end return n",
    '0',
  )
  process.stdout.write(`${name}: ${counted} jobs are in the store\n`)
}

const folder = mkdtempSync(join(tmpdir(), 'xg-bench-migrate-'))
const [source, target] = await Promise.all([RedisServer.start(), RedisServer.start()])
try {
  const path = join(folder, 'queue.sqlite')
  fillTable(path)
  await measure('gearmand+sqlite', `gearmand+sqlite://${path}`, target)
  await target.ask('FLUSHALL')
  await fillFaktory(source)
  await measure('faktory+redis', `faktory+unix://${source.path}`, target)
  process.stdout.write(`load of the machine: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}
`)
} finally {
  await Promise.all([source.stop(), target.stop()])
  rmSync(folder, { recursive: true })
}
