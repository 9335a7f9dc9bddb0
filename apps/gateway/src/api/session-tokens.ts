import { createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'

/** A reader sees everything and changes nothing; an operator does both. */
export type Role = 'reader' | 'operator'

/** How long a session lasts, seconds. */
export const sessionSeconds = 12 * 3600

const salt = 'crossgear web session 1'
const form = /^(reader|operator)\.(\d{1,12})\.([\w-]{16})\.([\w-]{43})$/

/**
 * Sessions that no node stores: a token has its role and its end, signed with a key of the role's password. It is valid at
 * every node with that password, until the password changes.
 */
export class SessionTokens {
  readonly #passwords: Readonly<Record<Role, string | undefined>>
  /** Made at their first use: it takes a while. */
  readonly #keys = new Map<Role, Buffer>()

  constructor(passwords: Readonly<Record<Role, string | undefined>>) {
    this.#passwords = passwords
  }

  issue(role: Role): string {
    const endSeconds = Math.floor(Date.now() / 1000) + sessionSeconds
    const claim = `${role}.${endSeconds}.${randomBytes(12).toString('base64url')}`
    return `${claim}.${this.#sign(role, claim)?.toString('base64url') ?? ''}`
  }

  /** Undefined for an invalid token. */
  roleOf(token: string): Role | undefined {
    const [, role, endSeconds, , mac = ''] = form.exec(token) ?? []
    if (role !== 'reader' && role !== 'operator') return undefined
    const expected = this.#sign(role, token.slice(0, -(mac.length + 1)))
    const given = Buffer.from(mac, 'base64url')
    if (!expected || given.length !== expected.length) return undefined
    if (!timingSafeEqual(given, expected)) return undefined
    return Number(endSeconds) * 1000 > Date.now() ? role : undefined
  }

  #sign(role: Role, claim: string): Buffer | undefined {
    const password = this.#passwords[role]
    if (password === undefined) return undefined
    const key = this.#keys.get(role) ?? scryptSync(password, salt, 32)
    this.#keys.set(role, key)
    return createHmac('sha256', key).update(claim).digest()
  }
}
