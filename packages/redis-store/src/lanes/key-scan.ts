import type { RedisContext } from '../connection/redis-context.ts'

/** Scans all keys of a pattern in laps, a little at each call. */
export class KeyScan {
  readonly #context: RedisContext
  readonly #pattern: string
  readonly #keysPerLook: number
  #cursor = '0'
  #server = 0

  constructor(context: RedisContext, pattern: string, keysPerLook: number) {
    this.#context = context
    this.#pattern = pattern
    this.#keysPerLook = keysPerLook
  }

  /** True if the next look begins a lap. */
  get isAtStart(): boolean {
    return this.#cursor === '0' && this.#server === 0
  }

  async next(): Promise<readonly string[]> {
    const servers = this.#context.masters()
    const server = servers[this.#server]
    if (!server) {
      this.#server = 0
      return []
    }
    const [cursor, found] = await this.#context.call(() =>
      server.scan(this.#cursor, 'MATCH', this.#pattern, 'COUNT', this.#keysPerLook),
    )
    this.#cursor = cursor
    if (cursor === '0') this.#server = (this.#server + 1) % servers.length
    return found
  }
}
