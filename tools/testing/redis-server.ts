import type { SpawnOptions } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lacking, lacks } from './lacks.ts'
import { Redis, type RedisOptions } from 'ioredis'
import { freePort } from './free-port.ts'
import { OwnProcess } from './own-process.ts'

/** The programs that a server may be. */
export type ServerProgram = 'redis-server' | 'valkey-server'

/** Which server it is. Defaults at the end of each line. */
export interface ServerShape {
  /** redis-server. */
  readonly program?: ServerProgram
  /** A library that is loaded before all others, such as a disk that forgets. None. */
  readonly preload?: string
  /** True for a server of a cluster. False. */
  readonly inCluster?: boolean
  /** A folder where its files stay, and its log. They are temporary. */
  readonly keptIn?: string
}

/** Set where a suite that needs redis-server cannot run. In CI it never is: there the suite fails. */
export const lacksRedis: Lacking = lacks('redis-server', '--version')

/** True where there is no valkey-server. */
export const lacksValkey: Lacking = lacks('valkey-server', '--version')

/** Names a folder on a disk where the one for temporary files is none. */
const diskVariable = 'TEST_DISK'

/** A Redis or Valkey of the test's own, on a Unix socket and a loopback port, without persistence. */
export class RedisServer {
  /** The Unix socket of the server. */
  readonly path: string
  readonly port: number
  readonly #folder: string
  readonly #shape: ServerShape
  readonly #words: readonly string[]
  readonly #connections = new Set<Redis>()
  #process: OwnProcess | undefined

  private constructor(port: number, shape: ServerShape, words: readonly string[]) {
    // An append-only file stays on a disk, where an fsync is one, though temporary files may be in memory.
    const place = words.includes('--appendonly') ? process.env[diskVariable] : undefined
    this.#folder = mkdtempSync(join(shape.keptIn ?? place ?? tmpdir(), 'xg-redis-'))
    this.#shape = shape
    this.#words = words
    this.path = join(this.#folder, 'redis.sock')
    this.port = port
  }

  /** Starts a server and returns when it answers. `words` are added to its command line. */
  static start(...words: string[]): Promise<RedisServer> {
    return RedisServer.startAs({}, ...words)
  }

  /** Starts a server of another kind. */
  static async startAs(shape: ServerShape, ...words: string[]): Promise<RedisServer> {
    const bus = shape.inCluster
      ? ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())]
      : []
    const server = new RedisServer(await freePort(), shape, [...bus, ...words])
    try {
      await server.start()
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** `redis://127.0.0.1:port` */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  /** Starts the process again after `kill`, with more words. Resolves when it accepts connections. */
  async start(...more: readonly string[]): Promise<void> {
    const where = ['--bind', '127.0.0.1', '--port', String(this.port), '--unixsocket', this.path]
    const files = ['--dir', this.#folder, '--save', '', '--appendonly', 'no']
    const { program = 'redis-server', preload } = this.#shape
    const options: SpawnOptions = {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...(preload !== undefined && { LD_PRELOAD: preload }) },
    }
    const all = [...where, ...files, ...this.#words, ...more]
    const running = new OwnProcess(program, all, options, () => this.#removeFiles())
    this.#process = running
    if (this.#shape.keptIn !== undefined) {
      const log = createWriteStream(join(this.#folder, 'redis.log'), { flags: 'a' })
      running.child.stdout?.pipe(log)
    }
    await running.said((line) => /ready to accept connections/i.test(line) || undefined)
  }

  /** Opens a connection over the Unix socket, closed by `stop` at the latest. */
  connect(options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
    const redis = new Redis(this.path, options)
    redis.on('error', () => undefined)
    this.#connections.add(redis)
    return redis
  }

  /** One command by hand, over a connection of its own; the reply as text. */
  async ask(command: string, ...words: readonly string[]): Promise<string> {
    const redis = new Redis(this.path, { retryStrategy: () => null, enableReadyCheck: false })
    redis.on('error', () => undefined)
    try {
      return String(await redis.call(command, [...words]))
    } finally {
      redis.disconnect()
    }
  }

  /** `master` or `slave`; nothing while the role changes: Sentinels end all connections of the server then. */
  async role(): Promise<string> {
    const answer = await this.ask('ROLE').catch(() => '')
    return answer.split(',', 1)[0] ?? ''
  }

  /** Stops the process as SIGSTOP does; it keeps its connections and answers nobody. */
  freeze(): void {
    this.#process?.freeze()
  }

  thaw(): void {
    this.#process?.thaw()
  }

  /** Ends the process. What it held is lost. */
  async kill(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    await running?.kill()
  }

  /** Ends the process and removes its files. */
  async stop(): Promise<void> {
    for (const redis of this.#connections) redis.disconnect()
    await this.kill()
    this.#removeFiles()
  }

  #removeFiles(): void {
    if (this.#shape.keptIn === undefined) rmSync(this.#folder, { recursive: true, force: true })
  }
}
