import type { Clock } from '@crossgear/core-scheduler'
import { countedAddress } from './addresses.ts'

/** Time that wrong passwords count against an address, from the first on, milliseconds. */
const windowMs = 60_000
/** Most remembered addresses; the oldest is dropped first. */
const maxAddresses = 10_000

interface Tries {
  readonly sinceMs: number
  wrong: number
}

/** Counts wrong passwords by address, against guessing. */
export class WrongPasswords {
  readonly #limit: number
  readonly #clock: Clock
  readonly #byAddress = new Map<string, Tries>()

  /** `limit`: wrong passwords per address and minute; 0: any number. */
  constructor(limit: number, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  /** True if the address has no tries left in this minute. */
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
