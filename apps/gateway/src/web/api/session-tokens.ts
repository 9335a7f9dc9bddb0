import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import { ApiError } from './api-error.ts'
import type { People, Person } from './people.ts'
import type { PasswordRole } from './roles.ts'

/** How long a session lasts, seconds. */
export const sessionSeconds = 12 * 3600

const salt = 'crossgear web session 1'
const form = /^(reader|operator)\.(\d{1,12})\.([\w-]{16})\.([\w-]{43})$/
const personForm = /^person\.([\w-]{1,96})\.(\d{1,12})\.([\w-]{16})\.([\w-]{43})$/

/**
 * Sessions that no node stores: a token has its role and its end, signed with a key of the role's password. It is valid at
 * every node with that password, until the password changes.
 */
export class SessionTokens {
  readonly #passwords: Readonly<Record<PasswordRole, string | undefined>>
  /** Made at their first use: it takes a while. */
  readonly #keys = new Map<PasswordRole, Buffer>()

  constructor(passwords: Readonly<Record<PasswordRole, string | undefined>>) {
    this.#passwords = passwords
  }

  issue(role: PasswordRole): string {
    const claim = `${role}.${claimEnd()}`
    return `${claim}.${this.#sign(role, claim)?.toString('base64url') ?? ''}`
  }

  /** Undefined for an invalid token. */
  roleOf(token: string): PasswordRole | undefined {
    const [, role, endSeconds, , mac = ''] = form.exec(token) ?? []
    if (role !== 'reader' && role !== 'operator') return undefined
    const expected = this.#sign(role, claimOf(token, mac))
    return isValid(mac, expected, endSeconds) ? role : undefined
  }

  #sign(role: PasswordRole, claim: string): Buffer | undefined {
    const password = this.#passwords[role]
    if (password === undefined) return undefined
    const key = this.#keys.get(role) ?? scryptSync(password, salt, 32)
    this.#keys.set(role, key)
    return createHmac('sha256', key).update(claim).digest()
  }
}

/**
 * Sessions of people, signed with a key that the store has, so that a hash in a file makes none. Each is bound to what
 * the configuration says of the person, and ends when that changes.
 */
export class PersonTokens {
  readonly #people: People
  readonly #storeKey: (() => Promise<Buffer>) | undefined

  /** `storeKey`: the key that all nodes on the store have. */
  constructor(people: People, storeKey: (() => Promise<Buffer>) | undefined) {
    this.#people = people
    this.#storeKey = storeKey
  }

  async issue(person: Person): Promise<string> {
    const claim = `person.${Buffer.from(person.name).toString('base64url')}.${claimEnd()}`
    return `${claim}.${(await this.#sign(person.name, claim))?.toString('base64url') ?? ''}`
  }

  /** Undefined for an invalid token. */
  async personOf(token: string): Promise<Person | undefined> {
    const [, encoded, endSeconds, , mac = ''] = personForm.exec(token) ?? []
    if (encoded === undefined) return undefined
    const name = Buffer.from(encoded, 'base64url').toString()
    const expected = await this.#sign(name, claimOf(token, mac))
    return isValid(mac, expected, endSeconds) ? this.#people.find(name) : undefined
  }

  async #sign(name: string, claim: string): Promise<Buffer | undefined> {
    const state = this.#people.stateOf(name)
    if (!state) return undefined
    const key = await this.#key()
    return createHmac('sha256', key).update(state).update(claim).digest()
  }

  async #key(): Promise<Buffer> {
    const why = 'sessions of people need the store'
    if (!this.#storeKey) throw new ApiError('store_unavailable', why)
    try {
      return await this.#storeKey()
    } catch (error) {
      throw new ApiError('store_unavailable', why, { cause: error })
    }
  }
}

function claimEnd(): string {
  const endSeconds = Math.floor(Date.now() / 1000) + sessionSeconds
  return `${endSeconds}.${randomBytes(12).toString('base64url')}`
}

function claimOf(token: string, mac: string): string {
  return token.slice(0, -(mac.length + 1))
}

function isValid(mac: string, expected: Buffer | undefined, endSeconds = '0'): boolean {
  const given = Buffer.from(mac, 'base64url')
  if (!expected || given.length !== expected.length) return false
  return timingSafeEqual(given, expected) && Number(endSeconds) * 1000 > Date.now()
}
