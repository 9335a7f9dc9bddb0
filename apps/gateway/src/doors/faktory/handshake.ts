import { randomBytes, randomInt } from 'node:crypto'
import type { Clock } from '@crossgear/core-scheduler'
import {
  formatHi,
  hashPassword,
  type Hello,
  isSameHash,
  type PasswordChallenge,
} from '@crossgear/fwp-codec'

/** Rounds of hashing asked of a client: Faktory's range. */
const fewestIterations = 4_000
const maxIterations = 8_096
/** Lifetime of a challenge for all connections, milliseconds: hashing takes some 5 of them. */
const challengeLifeMs = 10_000

/** The greeting of one connection, and the check of its HELLO. */
export interface Greeting {
  readonly hi: Buffer
  admits(hello: Hello): boolean
}

const openGreeting: Greeting = { hi: formatHi(), admits: () => true }

/**
 * Greets connections. With a password, all connections of ten seconds share one challenge, hashed
 * once, so that connecting cannot keep the gateway busy.
 */
export class Handshake {
  #password: string | undefined
  readonly #clock: Clock
  #current: Greeting = openGreeting
  #sinceMs = -Infinity

  constructor(password: string | undefined, clock: Clock) {
    this.#password = password
    this.#clock = clock
  }

  /** Connections that are greeted from now on have to know this password; undefined: none. */
  configure(password: string | undefined): void {
    if (password === this.#password) return
    this.#password = password
    this.#sinceMs = -Infinity
  }

  greeting(): Greeting {
    if (this.#password === undefined) return openGreeting
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#sinceMs >= challengeLifeMs) {
      this.#sinceMs = nowMs
      this.#current = new Challenge(this.#password)
    }
    return this.#current
  }
}

class Challenge implements Greeting {
  readonly hi: Buffer
  readonly #expected: string
  readonly #expectedOfOldClients: string

  constructor(password: string) {
    const challenge: PasswordChallenge = {
      iterations: randomInt(fewestIterations, maxIterations),
      salt: randomBytes(8).toString('hex'),
    }
    this.hi = formatHi(challenge)
    this.#expected = hashPassword(password, challenge.salt, challenge.iterations)
    this.#expectedOfOldClients = hashPassword(password, challenge.salt, 1)
  }

  /** Clients of protocol version 1 always hash once. */
  admits({ v = 0, pwdhash }: Hello): boolean {
    return isSameHash(pwdhash, v < 2 ? this.#expectedOfOldClients : this.#expected)
  }
}
