import { randomBytes, randomInt } from 'node:crypto'
import {
  formatHi,
  hashPassword,
  isSameHash,
  type Hello,
  type PasswordChallenge,
} from '@crossgear/fwp-codec'
import type { Clock } from '@crossgear/core-scheduler'

/** Rounds of hashing that a client is asked for: the range that Faktory uses. */
const fewestIterations = 4_000
const mostIterations = 8_096
/** How long one challenge serves all connections, milliseconds: hashing takes some 5 of them. */
const challengeLifeMs = 10_000

/** What one connection is greeted with, and by which its HELLO is judged. */
export interface Greeting {
  readonly hi: Buffer
  admits(hello: Hello): boolean
}

const openGreeting: Greeting = { hi: formatHi(), admits: () => true }

/**
 * Greets connections. With a password there is one challenge for all connections of ten seconds, hashed
 * once, so that nobody can keep the gateway busy with hashing by connecting.
 */
export class Greeter {
  readonly #password: string | undefined
  readonly #clock: Clock
  #current: Greeting = openGreeting
  #sinceMs = -Infinity

  constructor(password: string | undefined, clock: Clock) {
    this.#password = password
    this.#clock = clock
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
      iterations: randomInt(fewestIterations, mostIterations),
      salt: randomBytes(8).toString('hex'),
    }
    this.hi = formatHi(challenge)
    this.#expected = hashPassword(password, challenge.salt, challenge.iterations)
    this.#expectedOfOldClients = hashPassword(password, challenge.salt, 1)
  }

  /** Clients of protocol version 1 hash once, whatever they are asked for. */
  admits({ v = 0, pwdhash }: Hello): boolean {
    return isSameHash(pwdhash, v < 2 ? this.#expectedOfOldClients : this.#expected)
  }
}
