// How punctually scheduled jobs fire: many of them wait, and fall due while workers at every node fetch.
//   npm run bench:scheduled -- [jobs] [nodes] [seconds over which they fall due] [job types] [workers]
// Redis, the gateways and the workers share this machine, so its clock is the store's. A job is late by the
// time from its `at` to the worker having it (`handed out`), and to its `enqueued_at` (`queued`). Exit code 1
// where a job did not come, came twice, came early, or one in a hundred is later than a second.
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { FaktoryConnection } from '@crossgear/peers'
import { RedisServer } from '../testing/redis-server.ts'
import type { OwnProcess } from '../testing/own-process.ts'
import { cpuSeconds } from './processes.ts'
import { readyDoors, startGatewayAt } from './servers.ts'

const argument = (at: number, fallback: number): number => Number(process.argv[at] ?? fallback)
const jobs = argument(2, 100_000)
const nodes = argument(3, 2)
const spreadMs = argument(4, 60) * 1000
const types = argument(5, 20)
const workers = argument(6, 40)

const promisedMs = 1_000
const jobsPerPush = 1_000
/** Bulk pushes in progress. */
const pushers = 4
/** From the last push to the first job falling due. */
const restMs = 3_000
/** Time allowed for pushing, so that no job is due before all wait. */
const pushMs = 15_000 + jobs / 2
/** A job that has not come this long after the last was due is missing. */
const missingAfterMs = 60_000

interface Gateway {
  readonly running: OwnProcess
  readonly port: number
}

async function startGateway(redisPath: string): Promise<Gateway> {
  const running = startGatewayAt(redisPath)
  return { running, port: (await running.said(readyDoors)).get('faktory') ?? 0 }
}

/** Pushes all jobs, spread over time and types; returns when the first is due. */
async function push(gateways: readonly Gateway[]): Promise<number> {
  const firstMs = Date.now() + pushMs + restMs
  let next = 0
  const run = async (_: unknown, at: number): Promise<void> => {
    const client = await FaktoryConnection.open(gateways[at % gateways.length]!)
    while (next < jobs) {
      const from = next
      next = Math.min(jobs, next + jobsPerPush)
      const some = Array.from({ length: next - from }, (__, offset) =>
        jobAt(from + offset, firstMs),
      )
      const reply = String(await client.ask('PUSHB', some))
      if (reply !== '{}') throw new Error(`PUSHB was answered ${reply.slice(0, 200)}`)
    }
    client.close()
  }
  await Promise.all(Array.from({ length: pushers }, run))
  return firstMs
}

function jobAt(n: number, firstMs: number): object {
  const dueMs = firstMs + Math.floor((n / jobs) * spreadMs)
  const at = new Date(dueMs).toISOString()
  return { jid: `scheduled-${n}`, jobtype: `type-${n % types}`, args: [n, dueMs], at, retry: 0 }
}

interface Seen {
  readonly times: Uint8Array
  readonly queuedMs: number[]
  readonly handedOutMs: number[]
  count: number
}

async function work(port: number, seen: Seen, isOver: () => boolean): Promise<void> {
  const client = await FaktoryConnection.open({ port })
  let done: Promise<unknown> = Promise.resolve()
  while (!isOver()) {
    const reply = await client.ask('FETCH', 'default')
    const nowMs = Date.now()
    if (reply === null) continue
    const job = JSON.parse(reply.toString()) as {
      jid: string
      args: [number, number]
      enqueued_at: string
    }
    const [n, dueMs] = job.args
    seen.times[n] = (seen.times[n] ?? 0) + 1
    seen.count += 1
    seen.handedOutMs.push(nowMs - dueMs)
    seen.queuedMs.push(Date.parse(job.enqueued_at) - dueMs)
    done = client.ask('ACK', { jid: job.jid })
  }
  await done
  client.close()
}

function lateness(ms: readonly number[]): object {
  const sorted = [...ms].sort((one, other) => one - other)
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
  return { 'earliest ms': at(0), 'p50 ms': at(0.5), 'p99 ms': at(0.99), 'latest ms': at(1) }
}

/** Processor time of Redis, each gateway and this program. */
function allCpuSeconds(redis: RedisServer, gateways: readonly Gateway[]): number[] {
  const pids = [redis.pid, ...gateways.map(({ running }) => running.pid), process.pid]
  return pids.map(cpuSeconds)
}

/** Returns once as many jobs wait as were pushed; the first is due soon after. */
async function fill(gateways: readonly Gateway[]): Promise<number> {
  const fromMs = Date.now()
  const firstMs = await push(gateways)
  const tookMs = Date.now() - fromMs
  if (Date.now() > firstMs)
    throw new Error('pushing took too long: some were due before all waited')
  const client = await FaktoryConnection.open(gateways[0]!)
  const info = JSON.parse(String(await client.ask('INFO'))) as Info
  client.close()
  const { scheduled } = info.faktory.sets
  console.log(`${scheduled} of ${jobs} jobs wait; pushed in ${(tookMs / 1000).toFixed(1)} s`)
  if (scheduled !== jobs) throw new Error('not all wait')
  return firstMs
}

interface Info {
  readonly faktory: { readonly sets: { readonly scheduled: number } }
}

/** Pushes and works, then prints the result; true if it is as promised. */
async function measure(redis: RedisServer, gateways: readonly Gateway[]): Promise<boolean> {
  const firstMs = await fill(gateways)
  const seen: Seen = { times: new Uint8Array(jobs), queuedMs: [], handedOutMs: [], count: 0 }
  const lastMs = firstMs + spreadMs + missingAfterMs
  const isOver = (): boolean => seen.count >= jobs || Date.now() > lastMs
  const running = Array.from({ length: workers }, (_, at) =>
    work(gateways[at % nodes]?.port ?? 0, seen, isOver),
  )
  await delay(Math.max(0, firstMs - Date.now()))
  const loadBefore = loadavg()[0] ?? 0
  const cpuBefore = allCpuSeconds(redis, gateways)
  await Promise.all(running)
  const cpuAfter = allCpuSeconds(redis, gateways)
  const cpu = cpuAfter.map((seconds, at) => (seconds - (cpuBefore[at] ?? 0)).toFixed(1))

  const missing = seen.times.filter((times) => times === 0).length
  const twice = seen.times.filter((times) => times > 1).length
  console.table({ queued: lateness(seen.queuedMs), 'handed out': lateness(seen.handedOutMs) })
  console.log(
    `${jobs} jobs over ${spreadMs / 1000} s, ${nodes} nodes, ${types} job types, ${workers} workers: ` +
      `${missing} missing, ${twice} twice; load ${loadBefore.toFixed(1)} before, ` +
      `${(loadavg()[0] ?? 0).toFixed(1)} after; CPU seconds: Redis ${cpu[0] ?? ''}, ` +
      `gateways ${cpu.slice(1, -1).join(' and ')}, workers ${cpu.at(-1) ?? ''}`,
  )
  const late = seen.handedOutMs.filter((ms) => ms > promisedMs).length
  const early = seen.handedOutMs.filter((ms) => ms < 0).length
  return missing + twice + early === 0 && late <= jobs / 100
}

const redis = await RedisServer.start()
const gateways = await Promise.all(Array.from({ length: nodes }, () => startGateway(redis.path)))
try {
  process.exitCode = (await measure(redis, gateways)) ? 0 : 1
} finally {
  await Promise.all(gateways.map(({ running }) => running.stop()))
  await redis.stop()
}
