import { placeOf, type StoreAddress } from '@crossgear/gearmonkey-redis/address'
import { Valkey, type Program } from '@crossgear/redis-store/embedded'
import { Redis } from 'ioredis'
import { StoreMark } from './store-mark.ts'

/** Nothing that the server does by itself changes its data, or their order. */
const settings = ['activerehashing', 'no', 'hz', '1'] as const

/** Each world begins at a multiple of this time of the server: what it does now and then, it does at the same times of the world, milliseconds. */
const beginsAtMs = 1_000_000

const beforeWorlds: WorldClocks = { nowMs: () => 0, passedMs: () => 0 }

/** The clocks of a world, milliseconds. */
export interface WorldClocks {
  /** The server's date, since 1970. */
  readonly nowMs: () => number
  /** The time since the world began. */
  readonly passedMs: () => number
}

/** A server inside this process, on the clocks of one world after the other. */
export class WorldServer {
  /** Leads to whichever process has the server's place. */
  readonly address: StoreAddress = { connect: () => this.#process!.connect() }
  /** The world's own connection. After a restart it is there again by itself. */
  readonly redis: Redis
  readonly #program: Program
  #process: Valkey | undefined
  #clocks = beforeWorlds
  /** The time of former worlds, milliseconds: what the server measures never goes back. */
  #formerMs = 0
  #isRestarted = false

  private constructor(program: Program) {
    this.#program = program
    this.redis = this.#connection()
  }

  static async start(program?: Program): Promise<WorldServer> {
    const server = new WorldServer(program ?? (await Valkey.compile()))
    server.#process = await server.#started()
    await server.redis.connect()
    await server.redis.config('SET', ...settings)
    return server
  }

  /** The data of the server are gone, and it follows these clocks. */
  begin(clocks: WorldClocks): void {
    const passedMs = this.#formerMs + this.#clocks.passedMs()
    this.#formerMs = Math.ceil(passedMs / beginsAtMs + 1) * beginsAtMs
    this.#clocks = clocks
    this.#process!.step()
    void this.redis.flushall()
  }

  /** The world is over. A process that came with a restart is replaced: each has an order of keys of its own. */
  async end(): Promise<void> {
    if (!this.#isRestarted) return
    this.#clocks = beforeWorlds
    this.#formerMs = 0
    await this.#replace()
    this.#isRestarted = false
  }

  /** Runs a script at once. */
  now(script: string): string {
    let answer = ''
    const connection = this.#process!.open({
      receive: (bytes) => Boolean((answer += bytes.toString('latin1'))),
      closed: () => undefined,
    })
    const words = ['EVAL', script, '0']
    const text = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')
    connection.send(Buffer.from(`*${words.length}\r\n${text}`))
    this.#process!.step()
    connection.end()
    return answer
  }

  /** Another process has the server's place, with the same data and no connection. */
  async restart(): Promise<void> {
    await this.#replace(await StoreMark.of(this.redis))
    this.#isRestarted = true
  }

  stop(): void {
    this.redis.disconnect()
    this.#process?.stop()
  }

  async #replace(mark?: StoreMark): Promise<void> {
    const former = this.#process
    this.#process = await this.#started()
    const redis = this.#connection()
    await redis.config('SET', ...settings)
    await mark?.restore(redis)
    redis.disconnect()
    const isBack = new Promise((resolve) => this.redis.once('ready', resolve))
    former?.stop()
    await isBack
  }

  #started(): Promise<Valkey> {
    return Valkey.start({
      program: this.#program,
      nowMs: () => this.#clocks.nowMs(),
      monotonicMs: () => this.#formerMs + this.#clocks.passedMs(),
    })
  }

  #connection(): Redis {
    return new Redis({ ...placeOf(this.address), protocol: 2, lazyConnect: true })
  }
}
