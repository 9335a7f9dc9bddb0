import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Operator } from '../../config/operators.ts'
import { isPasswordOf, nobodysHash } from '../../config/password-hash.ts'
import { Limiter } from '../../doors/net/limiter.ts'
import { ApiError } from './api-error.ts'
import { type Role, roleOf } from './roles.ts'

/** Someone with a name. */
export interface Person {
  readonly name: string
  readonly role: Role
  /** Globs of functions and queues; absent: all. */
  readonly queues?: readonly string[]
}

/** Passwords that are checked at a time, each with at most 64 MiB and a thread of Node's. */
const checkedAtOnce = 2
/** Passwords that wait for it. */
const maxWaiting = 8
/** How long a right password is known without scrypt: terminal commands send it with each call. */
const knownForMs = 60_000

/** The people of the configuration. */
export class People {
  readonly #operators: ReadonlyMap<string, Operator>
  readonly #nowMs: () => number
  readonly #checks = new Limiter(checkedAtOnce)
  #waiting = 0
  readonly #nobody = nobodysHash()
  /** By name: right passwords, by a key that no other process has. */
  readonly #known = new Map<string, { readonly proof: Buffer; readonly untilMs: number }>()
  readonly #proofKey = randomBytes(32)

  constructor(operators: ReadonlyMap<string, Operator>, nowMs: () => number) {
    this.#operators = operators
    this.#nowMs = nowMs
  }

  get size(): number {
    return this.#operators.size
  }

  get mayChange(): boolean {
    return [...this.#operators.values()].some(({ role }) => role !== 'view')
  }

  find(name: string): Person | undefined {
    const operator = this.#operators.get(name)
    if (!operator) return undefined
    const { role, queues } = operator
    return { name, role: roleOf[role], ...(queues && { queues }) }
  }

  /** A digest of what a session of this person is bound to: it ends when any of it changes. */
  stateOf(name: string): Buffer | undefined {
    const operator = this.#operators.get(name)
    if (!operator) return undefined
    const { role, queues, password } = operator
    const words = JSON.stringify([name, role, queues ?? null, password.key.toString('base64')])
    return createHash('sha256').update(words).digest()
  }

  /** The person, if the password is theirs. An unknown name takes as long. Throws an ApiError if too many are asked for. */
  async verify(name: string, password: string): Promise<Person | undefined> {
    const operator = this.#operators.get(name)
    const proof = createHmac('sha256', this.#proofKey).update(password).digest()
    const known = this.#known.get(name)
    if (known && known.untilMs > this.#nowMs() && timingSafeEqual(known.proof, proof)) {
      return this.find(name)
    }
    if (this.#waiting >= maxWaiting) {
      const options = { retryAfterSeconds: 1, limit: 'too_many_calls' } as const
      throw new ApiError('too_many_requests', 'too many people log in: try again', options)
    }
    this.#waiting += 1
    try {
      const hash = operator?.password ?? this.#nobody
      const isRight = await this.#checks.run(() => isPasswordOf(password, hash))
      if (!isRight || !operator) return undefined
      this.#known.set(name, { proof, untilMs: this.#nowMs() + knownForMs })
      return this.find(name)
    } finally {
      this.#waiting -= 1
    }
  }
}
