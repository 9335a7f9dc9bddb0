import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue } from 'bullmq'
import mysql from 'mysql2'
import sqlite from 'node-sqlite3-wasm'
import pg from 'pg'
import { RedisStore } from '@crossgear/redis-store'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { RedisServer } from '@crossgear/tools/redis-server'
import { Gearmand, type Submission } from '@crossgear/tools/gearmand'
import { Mariadb } from '../support/mariadb.ts'
import { Memcached } from '../support/memcached.ts'
import { Postgres } from '../support/postgres.ts'
import { withSidekiq } from '../support/sidekiq.ts'
import { gearmanJob, inPieces, jsonJob, type ProofJob } from './jobs.ts'
import { liveFaktory } from './live-faktory.ts'
import type { FilledSource } from './prove.ts'

type Fill = (jobs: number) => Promise<FilledSource>

const priorities = ['high', 'normal', 'low'] as const
const levels = [8, 5, 2] as const
/** gearmand keeps so much of a unique id. */
const keptOf = (job: ProofJob): ProofJob => ({ ...job, unique: job.unique.slice(0, 63) })
const tableJob = (at: number): ProofJob => keptOf(gearmanJob(at))
/** Queues that keep no run times. */
const dueJob = (at: number): ProofJob => gearmanJob(at, false)

/** In Redis' key gearmand fills up with a space what it has cut. */
const redisJob = (at: number): ProofJob => {
  const job = dueJob(at)
  return job.unique.length < 64 ? job : { ...job, unique: ` ${job.unique.slice(0, 63)}` }
}

type TableRow = readonly [string, string, number, Buffer | null, number]

/** A row as gearmand writes it. */
function rowOf({ unique, fn, priority, payload, dueSeconds = 0 }: ProofJob): TableRow {
  return [unique, fn, priority, payload.length === 0 ? null : payload, dueSeconds]
}

/** A real gearmand takes all jobs. */
async function submitted(jobs: number, ...words: readonly string[]): Promise<Gearmand> {
  const gearmand = await Gearmand.start(...words)
  for (const some of inPieces(jobs, dueJob)) {
    const submissions = some.map(({ fn, unique, payload, priority }): Submission => {
      return { fn, unique, data: payload, priority: priorities[priority] ?? 'normal' }
    })
    await gearmand.submit(submissions)
  }
  return gearmand
}

/** Each source that can be run here. Tables are filled in the layout of gearmand, which takes 100 times as long itself. */
export const sources: Readonly<Record<string, Fill>> = {
  'gearmand+sqlite': (jobs) => {
    const folder = mkdtempSync(join(tmpdir(), 'xg-proof-'))
    const path = join(folder, 'queue.sqlite')
    fillSqlite(path, jobs)
    return Promise.resolve({
      address: `gearmand+sqlite://${path}`,
      // No gearmand runs, and the first process of some systems shows nobody its files.
      words: ['--stopped'],
      jobOf: tableJob,
      stop: () => rm(folder, { recursive: true }),
    })
  },
  file: async (jobs) => {
    const folder = mkdtempSync(join(tmpdir(), 'xg-proof-'))
    fillSqlite(join(folder, 'queue.sqlite'), jobs)
    const [from, to] = [`gearmand+sqlite://${folder}/queue.sqlite`, `file://${folder}/dump.ndjson`]
    const words = [...bundleWords(), 'migrate', 'export', '--from', from, '--to', to]
    await once(spawn(process.execPath, words, { stdio: 'ignore' }), 'exit')
    return {
      address: to,
      jobOf: tableJob,
      isCopyOnly: true,
      stop: () => rm(folder, { recursive: true }),
    }
  },
  'gearmand+mysql': async (jobs) => {
    const server = await Mariadb.start()
    server.sql(`CREATE TABLE gearman_queue (unique_key VARCHAR(64), function_name VARCHAR(255), priority INT,
      data LONGBLOB, when_to_run INT, UNIQUE KEY (unique_key, function_name)) ENGINE = InnoDB`)
    const login = { host: '127.0.0.1', port: server.port, user: 'gear', password: 'secret' }
    const connection = mysql.createConnection({ ...login, database: 'gear' })
    for (const some of inPieces(jobs, tableJob)) {
      await new Promise<void>((resolve, reject) => {
        const rows = some.map((job) => [...rowOf(job)])
        connection.query('INSERT INTO gearman_queue VALUES ?', [rows], (error) => {
          if (error) reject(error)
          else resolve()
        })
      })
    }
    const ended = once(connection, 'end')
    connection.end()
    await ended
    const address = `gearmand+mysql://gear:secret@127.0.0.1:${server.port}/gear`
    return { address, jobOf: tableJob, stop: () => server.stop() }
  },
  'gearmand+postgres': async (jobs) => {
    const server = await Postgres.start()
    const url = `postgres://gear:${server.password}@127.0.0.1:${server.port}/postgres`
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`CREATE TABLE queue (unique_key VARCHAR(64), function_name VARCHAR(255), priority INTEGER,
      data BYTEA, when_to_run INTEGER, UNIQUE (unique_key, function_name))`)
    for (const some of inPieces(jobs, tableJob)) {
      const rows = some.map(rowOf)
      const column = (at: number): unknown[] => rows.map((row) => row[at])
      await client.query(
        'INSERT INTO queue SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::bytea[], $5::int[])',
        [0, 1, 2, 3, 4].map(column),
      )
    }
    await client.end()
    return { address: `gearmand+${url}?table=queue`, jobOf: tableJob, stop: () => server.stop() }
  },
  'gearmand+redis': async (jobs) => {
    const server = await RedisServer.start()
    const where = ['-q', 'redis', '--redis-server', '127.0.0.1', '--redis-port', `${server.port}`]
    await (await submitted(jobs, ...where)).stop()
    const address = `gearmand+redis://127.0.0.1:${server.port}`
    return { address, jobOf: redisJob, stop: () => server.stop() }
  },
  'gearmand+memcached': async (jobs) => {
    const server = await Memcached.start()
    const where = ['-q', 'libmemcached', '--libmemcached-servers', `127.0.0.1:${server.port}`]
    await (await submitted(jobs, ...where)).stop()
    const address = `gearmand+memcached://127.0.0.1:${server.port}`
    return { address, jobOf: (at) => keptOf(dueJob(at)), stop: () => server.stop() }
  },
  gearman: async (jobs) => {
    const gearmand = await submitted(jobs)
    // gearmand finds no job by a unique id of 64 bytes, so it cannot be asked who waits for it.
    const address = `gearman://127.0.0.1:${gearmand.port}?assume=background`
    return {
      address,
      isLive: true,
      jobOf: (at: number) => keptOf(dueJob(at)),
      stop: () => gearmand.stop(),
    }
  },
  faktory: liveFaktory,
  'faktory+redis': async (jobs) => {
    const server = await RedisServer.start()
    const redis = server.connect()
    await redis.sadd('queues', 'default')
    for (const some of inPieces(jobs, (at) => [at, jsonJob(at)] as const)) {
      const pipeline = redis.pipeline()
      for (const [at, { fn, args, dueSeconds }] of some) {
        const jid = `jid-${at}-`.padEnd(64, 'x')
        const text = JSON.stringify({
          jid,
          queue: 'default',
          jobtype: fn,
          args,
          priority: (at % 9) + 1,
        })
        if (dueSeconds === undefined) pipeline.lpush('q:default', text)
        else pipeline.zadd('scheduled', dueSeconds, text)
      }
      await pipeline.exec()
    }
    redis.disconnect()
    const address = `faktory+redis://127.0.0.1:${server.port}`
    return { address, jobOf: jsonJob, stop: () => server.stop() }
  },
  'sidekiq+redis': async (jobs) => {
    const server = await RedisServer.start()
    await withSidekiq(
      server.url,
      `
      def args(at)
        [at, at == 7 ? "." * 5_000_000 : "\\0 ü " + "." * (at % 100)]
      end
      ${jobs}.times.each_slice(1000) do |some|
        3.times do |kind|
          now = some.select { |at| at % 3 == kind && at % 20 != 19 }
          Sidekiq::Client.push_bulk("class" => "Report#{kind}", "args" => now.map { |at| args(at) }) unless now.empty?
          later = some.select { |at| at % 3 == kind && at % 20 == 19 }
          times = later.map { |at| ${jsonJob(19).dueSeconds ?? 0} - 19 + at % 1000 }
          Sidekiq::Client.push_bulk("class" => "Report#{kind}", "args" => later.map { |at| args(at) }, "at" => times) unless later.empty?
        end
      end`,
    )
    const address = `sidekiq+redis://127.0.0.1:${server.port}`
    return { address, jobOf: jsonJob, stop: () => server.stop() }
  },
  'resque+redis': async (jobs) => {
    const server = await RedisServer.start()
    const redis = server.connect()
    await redis.sadd('resque:queues', 'default')
    for (const some of inPieces(jobs, jsonJob)) {
      const pipeline = redis.pipeline()
      for (const { fn, args, dueSeconds } of some) {
        const text = JSON.stringify({ class: fn, args, ...(dueSeconds && { queue: 'default' }) })
        if (dueSeconds === undefined) pipeline.rpush('resque:queue:default', text)
        else {
          pipeline.rpush(`resque:delayed:${dueSeconds}`, text)
          pipeline.zadd('resque:delayed_queue_schedule', dueSeconds, dueSeconds)
        }
      }
      await pipeline.exec()
    }
    redis.disconnect()
    const address = `resque+redis://127.0.0.1:${server.port}`
    return { address, jobOf: jsonJob, stop: () => server.stop() }
  },
  'bullmq+redis': async (jobs) => {
    const server = await RedisServer.start()
    const queue = new Queue('default', { connection: { port: server.port } })
    for (const some of inPieces(jobs, jsonJob)) {
      await queue.addBulk(
        some.map(({ fn, args, dueSeconds }) => ({
          name: fn,
          data: args,
          ...(dueSeconds !== undefined && { opts: { delay: dueSeconds * 1_000 - Date.now() } }),
        })),
      )
    }
    await queue.close()
    const address = `bullmq+redis://127.0.0.1:${server.port}`
    // The data of a job are one argument.
    const jobOf = (at: number): ProofJob => {
      const job = jsonJob(at)
      return { ...job, payload: Buffer.from(JSON.stringify([job.args])) }
    }
    return { address, jobOf, stop: () => server.stop() }
  },
  'gearmonkey+redis': async (jobs) => {
    const server = await RedisServer.start()
    const store = new RedisStore({ path: server.path })
    await store.open()
    for (const fn of [0, 1, 2].map((at) => gearmanJob(at).fn)) await store.lanes.register(fn)
    for (const some of inPieces(jobs, gearmanJob, 300)) {
      for (const fn of new Set(some.map((job) => job.fn))) {
        const own = some.filter((job) => job.fn === fn)
        await store.steps.submit(
          fn,
          own.map(({ unique, payload, priority, dueSeconds }) => ({
            input: payload,
            door: 'gearman',
            foreground: false,
            level: levels[priority] ?? 5,
            unique: Buffer.from(unique),
            ...(dueSeconds !== undefined && { dueAtMs: dueSeconds * 1_000 }),
          })),
        )
      }
    }
    await store.close()
    const address = `gearmonkey+redis://127.0.0.1:${server.port}`
    return { address, jobOf: gearmanJob, stop: () => server.stop() }
  },
}

function fillSqlite(path: string, jobs: number): void {
  const db = new sqlite.Database(path)
  db.exec(`CREATE TABLE gearman_queue (unique_key TEXT, function_name TEXT, priority INTEGER, data BLOB,
    when_to_run INTEGER, PRIMARY KEY (unique_key, function_name))`)
  db.exec('BEGIN')
  const insert = db.prepare('INSERT INTO gearman_queue VALUES (?, ?, ?, ?, ?)')
  for (let at = 0; at < jobs; at += 1) insert.run([...rowOf(tableJob(at))])
  insert.finalize()
  db.exec('COMMIT')
  db.close()
}
