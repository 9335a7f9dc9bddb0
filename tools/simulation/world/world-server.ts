import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWorldClock } from '@crossgear/tools/preload-library'
import { RedisServer } from '@crossgear/tools/redis-server'

/** Nothing that the server does by itself changes its data, or their order. */
const words = [
  ...['--activerehashing', 'no', '--hz', '1', '--dynamic-hz', 'no'],
  ...['--enable-debug-command', 'local'],
]

/** A connection of the world's own. */
export type WorldConnection = ReturnType<RedisServer['connect']>

/** A Redis server whose date is set by the world. */
export class WorldServer {
  readonly redis: RedisServer
  readonly #folder: string
  readonly #clock: number
  readonly #bytes = Buffer.alloc(8)
  #us = 0n

  private constructor(folder: string, clock: number, redis: RedisServer) {
    this.#folder = folder
    this.#clock = clock
    this.redis = redis
  }

  static async start(): Promise<WorldServer> {
    const folder = mkdtempSync(join(tmpdir(), 'xg-world-'))
    const clockFile = join(folder, 'clock')
    try {
      writeFileSync(clockFile, Buffer.alloc(8))
      const preload = buildWorldClock(folder, clockFile)
      const redis = await RedisServer.startAs({ preload }, ...words)
      await redis.ask('DEBUG', 'SET-ACTIVE-EXPIRE', '0')
      return new WorldServer(folder, openSync(clockFile, 'r+'), redis)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** Sets the date, milliseconds since 1970. */
  setDate(ms: number): void {
    const us = BigInt(Math.round(ms * 1000))
    if (us === this.#us) return
    this.#us = us
    this.#bytes.writeBigInt64LE(us)
    writeSync(this.#clock, this.#bytes, 0, 8, 0)
  }

  async stop(): Promise<void> {
    await this.redis.stop()
    closeSync(this.#clock)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
