import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { GearmanConnection } from '@crossgear/peers'
import type { Redis } from 'ioredis'
import { Gearmand } from '../testing/gearmand.ts'
import { RedisServer } from '../testing/redis-server.ts'
import type { OwnProcess } from '../testing/own-process.ts'
import { startProgram } from './processes.ts'

const gateway = fileURLToPath(new URL('../../apps/gateway/dist/main.js', import.meta.url))
const pollMs = 2
const startDeadlineMs = 20_000

/** A server under load. */
export interface Server {
  readonly name: string
  /** Port of the Gearman door. */
  readonly port: number
  /** Port of the Faktory door, where there is one. */
  readonly faktoryPort: number
  /** Processes whose processor time counts for the server. */
  readonly pids: readonly number[]
  stop(): Promise<void>
}

/**
 * A Redis configured as the README advises: AOF with fsync every second, hashes of jobs in the
 * compact form.
 */
export function advisedRedis(): Promise<RedisServer> {
  const files = ['--appendonly', 'yes', '--appendfsync', 'everysec']
  const compact = ['--hash-max-listpack-value', '1024', '--hash-max-listpack-entries', '128']
  return RedisServer.start(...files, ...compact)
}

interface ReadyLine {
  readonly msg?: string
  readonly doors?: readonly { readonly name: string; readonly port: number }[]
}

/** Resolves with the ports once the gateway has logged that it is ready. */
export function readyDoors(line: string): Map<string, number> | undefined {
  if (!line.includes('"msg":"Ready."') || !line.endsWith('}')) return undefined
  const { doors } = JSON.parse(line) as ReadyLine
  return new Map(doors?.map((door) => [door.name, door.port]))
}

export interface Gateway extends Server {
  /** Without those of its Redis. */
  readonly ownPids: readonly number[]
  readonly redis: RedisServer
  /** A connection to it. */
  readonly client: Redis
  /** 0 where it is off. */
  readonly webPort: number
  readonly httpPort: number
}

/** Defaults at the end of each line. */
export interface GatewayWays {
  /** Port of the Gearman door. Any that is free. */
  readonly gearman?: number
  /** Words before the program. None. */
  readonly nodeWords?: readonly string[]
  /** Opens the web port. false. */
  readonly web?: boolean
  /** Opens the HTTP port. false. */
  readonly http?: boolean
  /** More words of the command line. None. */
  readonly words?: readonly string[]
}

/** Starts the built gateway on a running Redis. Not ready yet when this returns. */
export function startGatewayAt(
  redisPath: string,
  { gearman = 0, nodeWords = [], web, http, words: more = [] }: GatewayWays = {},
): OwnProcess {
  const doors = ['--gearman-port', String(gearman), '--faktory-port', '0']
  const others = ['--web-port', web ? '0' : 'off', '--http-port', http ? '0' : 'off']
  const store = ['--redis-url', `unix://${redisPath}`, '--log-format', 'json']
  const words = [...doors, ...others, ...store, ...more]
  return startProgram(process.execPath, [...nodeWords, gateway, 'serve', ...words])
}

/** The built gateway, with a Redis of its own. */
export async function startGateway(ways: GatewayWays = {}): Promise<Gateway> {
  const redis = await advisedRedis()
  const running = startGatewayAt(redis.path, ways)
  const ports = await running.said(readyDoors)
  const ownPids = [running.pid]
  return {
    name: 'gateway',
    port: ports.get('gearman') ?? 0,
    faktoryPort: ports.get('faktory') ?? 0,
    webPort: ports.get('web') ?? 0,
    httpPort: ports.get('http') ?? 0,
    ownPids,
    pids: [...ownPids, redis.pid],
    redis,
    client: redis.connect(),
    async stop() {
      await running.stop()
      await redis.stop()
    },
  }
}

/** gearmand with its queues in memory. */
export async function startGearmand(): Promise<Server> {
  const running = await Gearmand.start()
  const { port, pid } = running
  return { name: 'gearmand', port, faktoryPort: 0, pids: [pid], stop: () => running.stop() }
}

/** gearmand with its queues in a Redis of its own, which it asks once for each job. */
export async function startStoringGearmand(): Promise<Server> {
  const redis = await advisedRedis()
  const address = ['--redis-server', '127.0.0.1', '--redis-port', String(redis.port)]
  const running = await Gearmand.start('-q', 'redis', ...address)
  return {
    name: 'gearmand -q redis',
    port: running.port,
    faktoryPort: 0,
    pids: [running.pid, redis.pid],
    async stop() {
      await running.stop()
      await redis.stop()
    },
  }
}

/**
 * Resolves when a Gearman server on the port has answered, with the time of that (ms, monotonic).
 */
export async function serving(port: number): Promise<number> {
  const deadline = performance.now() + startDeadlineMs
  while (performance.now() < deadline) {
    if (await answers(port).catch(() => false)) return performance.now()
    await delay(pollMs)
  }
  throw new Error(`nobody serves on port ${port}`)
}

async function answers(port: number): Promise<boolean> {
  const client = await GearmanConnection.open({ port })
  return client
    .line('version')
    .then(Boolean)
    .finally(() => client.close())
}
