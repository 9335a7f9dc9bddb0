import type { Clock } from '@crossgear/core-scheduler'
import { countedAddress } from './addresses.ts'

/** Time that wrong passwords count against an address, from the first on, milliseconds. */
const windowMs = 60_000
/** Most remembered addresses; the oldest is dropped first. */
const maxAddresses = 10_000

interface Tries {
  readonly sinceMs: number
  wrong: number
  /** When a password is checked again though the limit is reached. */
  slowFromMs: number
}

/** A password may be checked. `slow`: though the limit is reached. */
export type Try = 'free' | 'slow'

/**
 * Counts wrong passwords by address, against guessing. An address at the limit, which may be that of a proxy or of many
 * machines, has one check now and then still, as many in a minute as the limit: so a right password is let in.
 */
export class WrongPasswords {
  readonly #limit: number
  readonly #clock: Clock
  readonly #byAddress = new Map<string, Tries>()

  /** `limit`: wrong passwords per address and minute; 0: any number. */
  constructor(limit: number, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  /** True if the address has no tries left in this minute but slow ones. */
  isSpent(address: string): boolean {
    return this.#limit > 0 && (this.#current(countedAddress(address))?.wrong ?? 0) >= this.#limit
  }

  /** True if no password of the address would be checked now. */
  isRefused(address: string): boolean {
    const tries = this.#current(countedAddress(address))
    return this.isSpent(address) && tries !== undefined && this.#clock.nowMs() < tries.slowFromMs
  }

  /** Takes a check of a password; undefined where there is none now. */
  take(address: string): Try | undefined {
    if (!this.isSpent(address)) return 'free'
    if (this.isRefused(address)) return undefined
    this.#slowDown(this.#current(countedAddress(address)))
    return 'slow'
  }

  add(address: string): void {
    if (this.#limit === 0) return
    const key = countedAddress(address)
    const tries = this.#current(key)
    if (tries) {
      tries.wrong += 1
      if (tries.wrong === this.#limit) this.#slowDown(tries)
      return
    }
    const first: Tries = { sinceMs: this.#clock.nowMs(), wrong: 1, slowFromMs: 0 }
    if (this.#limit === 1) this.#slowDown(first)
    this.#byAddress.set(key, first)
    if (this.#byAddress.size <= maxAddresses) return
    for (const oldest of this.#byAddress.keys()) {
      this.#byAddress.delete(oldest)
      break
    }
  }

  #slowDown(tries: Tries | undefined): void {
    if (tries) tries.slowFromMs = this.#clock.nowMs() + windowMs / this.#limit
  }

  #current(key: string): Tries | undefined {
    const tries = this.#byAddress.get(key)
    if (!tries || this.#clock.nowMs() - tries.sinceMs < windowMs) return tries
    this.#byAddress.delete(key)
    return undefined
  }
}
