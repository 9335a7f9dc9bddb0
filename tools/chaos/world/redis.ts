import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis, type Cluster } from 'ioredis'
import { freePort } from '@crossgear/tools/free-port'
import type { ServerShape } from '@crossgear/tools/redis-server'
import type { StoreWay } from '../peers/tasks.ts'
import { OwnProcess } from './process.ts'

/** How an AOF reaches the disk. */
export type Fsync = 'always' | 'everysec'

/** Options of a server that has its data again after its end. */
export function durableWords(fsync: Fsync): string[] {
  return ['--appendonly', 'yes', '--appendfsync', fsync, '--save', '']
}

/**
 * A redis-server, or one like it, with an append-only file and a fixed port, that restarts with its
 * data.
 */
export class RedisNode {
  readonly port: number
  readonly #folder: string
  readonly #words: readonly string[]
  readonly #shape: ServerShape
  #process: OwnProcess | undefined

  private constructor(port: number, folder: string, words: readonly string[], shape: ServerShape) {
    this.port = port
    this.#shape = shape
    this.#folder = folder
    this.#words = words
  }

  static async start(
    folder: string,
    fsync: Fsync,
    words: readonly string[] = [],
    shape: ServerShape = {},
  ): Promise<RedisNode> {
    const port = await freePort()
    const own = join(folder, `redis-${port}`)
    mkdirSync(own, { recursive: true })
    const node = new RedisNode(port, own, [...durableWords(fsync), ...words], shape)
    await node.start()
    return node
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  get process(): OwnProcess {
    if (!this.#process) throw new Error('redis-server is not started')
    return this.#process
  }

  /** Starts the process, again after its end. Settles when it answers. */
  async start(): Promise<void> {
    const where = ['--bind', '127.0.0.1', '--port', String(this.port), '--dir', this.#folder]
    const log = ['--logfile', join(this.#folder, 'redis.log')]
    const { program = 'redis-server', preload } = this.#shape
    const env = { ...process.env, ...(preload !== undefined && { LD_PRELOAD: preload }) }
    const words = [...where, ...log, ...this.#words]
    this.#process = new OwnProcess(`redis-${this.port}`, program, words, { env })
    const redis = this.connect()
    try {
      while ((await redis.ping().catch(() => '')) !== 'PONG') {
        if (this.#process.hasExited) throw new Error(`${program} ended: see ${this.#folder}`)
        await delay(10)
      }
    } finally {
      redis.disconnect()
    }
  }

  /** A connection for the run's own questions. */
  connect(): Redis {
    const redis = new Redis(this.url, {
      retryStrategy: (attempt) => Math.min(10 * attempt, 200),
      maxRetriesPerRequest: null,
    })
    redis.on('error', () => undefined)
    return redis
  }
}

/** The store of a scenario. */
export interface StoreWorld {
  /** The gateway's option and its value. */
  readonly gatewayUrl: string
  readonly native: StoreWay
  /** Connects to the current master. */
  connect(): Redis | Cluster
  stop(): Promise<void>
  /**
   * Promotes a replica. Settles when done; the returned function brings the old master back, and
   * settles when that is a replica.
   */
  failover?(): Promise<() => Promise<void>>
  /**
   * Has a replica promoted beside a healthy master, as an operator does. Settles when done; the returned function settles
   * when the old master is a replica, until when it takes writes that will be lost.
   */
  switchOver?(): Promise<() => Promise<void>>
}
