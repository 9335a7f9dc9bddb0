import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis, type RedisOptions } from 'ioredis'
import { freePort } from './free-port.ts'
import { OwnProcess } from './own-process.ts'
import { RedisServer } from './redis-server.ts'
import { waitFor } from './wait-for.ts'

export interface SentinelShape {
  /** 1. */
  readonly replicas?: number
  /** 3. */
  readonly sentinels?: number
  /** Added to the command line of master and replicas. */
  readonly words?: readonly string[]
}

const masterName = 'crossgear'

/** A master with replicas and the Sentinels that look after them, each a process on loopback ports. */
export class RedisSentinel {
  readonly servers: readonly RedisServer[]
  readonly #sentinels: readonly SentinelProcess[]
  readonly #connections = new Set<Redis>()

  private constructor(servers: readonly RedisServer[], sentinels: readonly SentinelProcess[]) {
    this.servers = servers
    this.#sentinels = sentinels
  }

  /** Returns when the replicas have their data and each Sentinel knows all servers and Sentinels. */
  static async start(shape: SentinelShape = {}): Promise<RedisSentinel> {
    const { replicas = 1, sentinels = 3, words = [] } = shape
    const common = ['--repl-diskless-sync-delay', '0', ...words]
    const master = await RedisServer.start(...common)
    const follow = ['--replicaof', '127.0.0.1', String(master.port)]
    const others = Array.from({ length: replicas }, () => RedisServer.start(...common, ...follow))
    const servers = [master, ...(await Promise.all(others))]
    await waitFor(
      'the replicas follow',
      async () => (await master.ask('INFO', 'replication')).split('online').length > replicas,
    )
    const guards = Array.from({ length: sentinels }, () =>
      SentinelProcess.start(master.port, quorumOf(sentinels)),
    )
    const sentinel = new RedisSentinel(servers, await Promise.all(guards))
    try {
      await sentinel.settled()
    } catch (error) {
      await sentinel.stop()
      throw error
    }
    return sentinel
  }

  /** `redis+sentinel://127.0.0.1:port,127.0.0.1:port/name` */
  get url(): string {
    return urlOf(this.#sentinels)
  }

  /** URL of a Sentinel alone that does not lead a {@link failover}: it hears of one when it is done. */
  get followerUrl(): string {
    return urlOf(this.#sentinels.slice(-1))
  }

  /** The server that the Sentinels take for the master. */
  async master(): Promise<RedisServer> {
    const [first] = this.#sentinels
    const answer = await first?.ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)
    const port = Number((answer as string[] | undefined)?.[1])
    const server = this.servers.find((one) => one.port === port)
    if (!server) throw new Error(`no server on port ${port}`)
    return server
  }

  /** Resolves when every Sentinel knows all the others and all replicas. */
  async settled(): Promise<void> {
    await Promise.all(
      this.#sentinels.map((sentinel) =>
        waitFor('the Sentinels know all', async () => {
          const words = (await sentinel.ask('SENTINEL', 'MASTER', masterName)) as string[]
          const figure = (name: string): number => Number(words[words.indexOf(name) + 1])
          return (
            figure('num-slaves') === this.servers.length - 1 &&
            figure('num-other-sentinels') === this.#sentinels.length - 1
          )
        }),
      ),
    )
  }

  /** Keeps the Sentinels from finding a master's end by themselves, or lets them again. */
  async hold(isHeld: boolean): Promise<void> {
    const quorum = isHeld ? this.#sentinels.length + 1 : quorumOf(this.#sentinels.length)
    const set = ['SET', masterName, 'quorum', String(quorum)]
    await Promise.all(this.#sentinels.map((sentinel) => sentinel.ask('SENTINEL', ...set)))
  }

  /** Has the Sentinels make a replica the master, as an operator does. Resolves when it is. */
  async failover(): Promise<RedisServer> {
    const before = await this.master()
    // Sentinels refuse while they know no replica that is fit.
    await waitFor('a failover begins', async () => {
      const begun = this.#sentinels[0]?.ask('SENTINEL', 'FAILOVER', masterName)
      return (await begun?.catch(() => 'refused')) === 'OK'
    })
    return this.successorOf(before)
  }

  /** The next master after this one, which the Sentinels find when it is gone. */
  async successorOf(before: RedisServer): Promise<RedisServer> {
    await waitFor('there is another master', async () => (await this.master()) !== before)
    const after = await this.master()
    await waitFor('it knows that it is the master', async () => (await after.role()) === 'master')
    return after
  }

  /** Opens a connection that finds the master, closed by `stop` at the latest. */
  connect(options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
    const sentinels = this.#sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
    const redis = new Redis({ sentinels, name: masterName, ...options })
    redis.on('error', () => undefined)
    this.#connections.add(redis)
    return redis
  }

  /** Ends all processes and removes their files. */
  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.disconnect()
    await Promise.all(this.#sentinels.map((sentinel) => sentinel.stop()))
    await Promise.all(this.servers.map((server) => server.stop()))
  }
}

function urlOf(sentinels: readonly SentinelProcess[]): string {
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return `redis+sentinel://${hosts}/${masterName}`
}

function quorumOf(sentinels: number): number {
  return Math.floor(sentinels / 2) + 1
}

class SentinelProcess {
  readonly port: number
  readonly #process: OwnProcess
  readonly #folder: string
  readonly #redis: Redis

  private constructor(port: number, running: OwnProcess, folder: string) {
    this.port = port
    this.#process = running
    this.#folder = folder
    this.#redis = new Redis({ port, host: '127.0.0.1' })
    this.#redis.on('error', () => undefined)
  }

  static async start(masterPort: number, quorum: number): Promise<SentinelProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'xg-sentinel-'))
    const port = await freePort()
    const file = join(folder, 'sentinel.conf')
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} ${quorum}`,
      `sentinel down-after-milliseconds ${masterName} 1000`,
      `sentinel failover-timeout ${masterName} 5000`,
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
    const running = new OwnProcess('redis-server', [file, '--sentinel'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await running.said((line) => line.includes('+monitor master') || undefined)
    return new SentinelProcess(port, running, folder)
  }

  ask(command: string, ...words: string[]): Promise<unknown> {
    return this.#redis.call(command, words)
  }

  async stop(): Promise<void> {
    this.#redis.disconnect()
    await this.#process.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
