import { isIPv6 } from 'node:net'
import type { Clock } from '@crossgear/core-scheduler'

/** How long wrong passwords are held against an address, from the first on, milliseconds. */
const windowMs = 60_000
/** Addresses that are remembered; of more the oldest is forgotten. */
const maxAddresses = 10_000
/** One machine commands the addresses of such a network: it counts as one. */
const ipv6NetworkGroups = 4

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
    return this.#limit > 0 && (this.#current(keyOf(address))?.wrong ?? 0) >= this.#limit
  }

  add(address: string): void {
    if (this.#limit === 0) return
    const key = keyOf(address)
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

function keyOf(address: string): string {
  const ipv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (ipv4 !== undefined) return ipv4
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  // What `::` leaves out are zeros.
  const zeros = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length
  return [...groups, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, ipv6NetworkGroups)
    .join(':')
}
