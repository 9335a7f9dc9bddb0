import type { StoreLink } from '../connection/store-link.ts'

/** Goes through all keys of a pattern, a little at each call, again and again. */
export class KeyScan {
  readonly #link: StoreLink
  readonly #pattern: string
  readonly #keysPerLook: number
  #cursor = '0'
  #server = 0

  constructor(link: StoreLink, pattern: string, keysPerLook: number) {
    this.#link = link
    this.#pattern = pattern
    this.#keysPerLook = keysPerLook
  }

  /** Whether the next look is the first of a lap. */
  get isAtStart(): boolean {
    return this.#cursor === '0' && this.#server === 0
  }

  async next(): Promise<readonly string[]> {
    const servers = this.#link.masters()
    const server = servers[this.#server]
    if (!server) {
      this.#server = 0
      return []
    }
    const [cursor, found] = await this.#link.call(() =>
      server.scan(this.#cursor, 'MATCH', this.#pattern, 'COUNT', this.#keysPerLook),
    )
    this.#cursor = cursor
    if (cursor === '0') this.#server = (this.#server + 1) % servers.length
    return found
  }
}
