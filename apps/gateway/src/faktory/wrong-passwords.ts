import type { Clock } from '@crossgear/core-scheduler'
import { countedAddress } from '../net/address-counts.ts'

/** How long wrong passwords are held against an address, from the first on, milliseconds. */
const windowMs = 60_000
/** Addresses that are remembered; of more the oldest is forgotten. */
const maxAddresses = 10_000

interface Tries {
  readonly sinceMs: number
  wrong: number
}

/** Counts wrong passwords by address, so that nobody can try many. */
export class WrongPasswords {
  readonly #limit: number
  readonly #clock: Clock
  readonly #byAddress = new Map<string, Tries>()

  /** `limit`: wrong passwords of one address in a minute; 0: any number. */
  constructor(limit: number, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  /** Whether the address has had its tries for this minute. */
  isSpent(address: string): boolean {
    return this.#limit > 0 && (this.#current(countedAddress(address))?.wrong ?? 0) >= this.#limit
  }

  add(address: string): void {
    if (this.#limit === 0) return
    const key = countedAddress(address)
    const tries = this.#current(key)
    if (tries) {
      tries.wrong += 1
      return
    }
    this.#byAddress.set(key, { sinceMs: this.#clock.nowMs(), wrong: 1 })
    if (this.#byAddress.size <= maxAddresses) return
    for (const oldest of this.#byAddress.keys()) {
      this.#byAddress.delete(oldest)
      break
    }
  }

  #current(key: string): Tries | undefined {
    const tries = this.#byAddress.get(key)
    if (!tries || this.#clock.nowMs() - tries.sinceMs < windowMs) return tries
    this.#byAddress.delete(key)
    return undefined
  }
}
