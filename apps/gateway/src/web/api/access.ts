import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '@crossgear/core-scheduler'
import type { Operator } from '../../config/operators.ts'
import { isLocal, type Origin } from '../../doors/net/local-requests.ts'
import { type Try, WrongPasswords } from '../../doors/net/wrong-passwords.ts'
import { ApiError } from './api-error.ts'
import { People, type Person } from './people.ts'
import { type PasswordRole, type Role, roleOfPassword, roleRanks } from './roles.ts'
import { PersonTokens, SessionTokens } from './session-tokens.ts'
import { type ProxyOptions, TrustedProxy } from './trusted-proxy.ts'

/** The client of one request. `role` is absent where it may not even read. */
export interface Identity {
  readonly role?: Role
  readonly address: string
  /** The client is on this machine, and no proxy is between. */
  readonly isLocal: boolean
  /** How it proved its role; `address`: by where it is. */
  readonly by: 'password' | 'session' | 'address' | 'proxy'
  /** Absent for a password without a name. */
  readonly name?: string
  /** Globs of the functions and queues that it may touch; absent: all. */
  readonly queues?: readonly string[]
}

/** How the web port is guarded. Defaults at the end of each line. */
export interface AccessOptions {
  /** The operator's. None: only people with names change anything. */
  readonly password?: string
  /** The reader's. None. */
  readonly readerPassword?: string
  /** People, by name. None. */
  readonly operators?: ReadonlyMap<string, Operator>
  /** A proxy that names people. None. */
  readonly proxy?: ProxyOptions
  /** Other machines read without a password. false. */
  readonly isOpen?: boolean
  /** Wrong passwords that one address may send in a minute; 0: any number. 10. */
  readonly tries?: number
}

/** Other parts of the gateway that guard the port with it. */
export interface AccessParts {
  readonly clock: Clock
  /** The key that all nodes on the store have, for sessions of people. None: they have none. */
  readonly storeKey?: () => Promise<Buffer>
  /** Called when a login failed. Nothing. */
  readonly loginFailed?: (reason: LoginFault) => void
}

/** Why a login failed: a wrong password, a wrong one of a person, or one try too many. */
export type LoginFault = 'password' | 'person' | 'tries'

/** The parts of a request that say who sent it. */
export type Credentials = Origin & Pick<IncomingMessage, 'headers'>

export const sessionCookie = 'crossgear_session'
const longestCredentials = 4_096

/** Decides what a client of the web port may do. */
export class Access {
  readonly #parts: AccessParts
  #isOpen = false
  #tokens = new SessionTokens({ operator: undefined, reader: undefined })
  #people: People
  #personTokens: PersonTokens
  #proxy: TrustedProxy | undefined
  #wrong: WrongPasswords
  /** Hashes, so that lengths do not show. */
  #passwords: readonly { readonly role: PasswordRole; readonly hash: Buffer }[] = []

  constructor(options: AccessOptions, parts: AccessParts) {
    this.#parts = parts
    this.#wrong = new WrongPasswords(0, parts.clock)
    this.#people = new People(new Map(), () => parts.clock.nowMs())
    this.#personTokens = new PersonTokens(this.#people, parts.storeKey)
    this.configure(options)
  }

  /** Replaces all options. Sessions of a former password, and of people who have changed, end. */
  configure(options: AccessOptions): void {
    const { password, readerPassword, operators, proxy, isOpen = false, tries = 10 } = options
    const { clock, storeKey } = this.#parts
    const given = { operator: password, reader: readerPassword }
    this.#isOpen = isOpen
    this.#tokens = new SessionTokens(given)
    this.#people = new People(operators ?? new Map(), () => clock.nowMs())
    this.#personTokens = new PersonTokens(this.#people, storeKey)
    this.#proxy = proxy && new TrustedProxy(proxy)
    this.#wrong = new WrongPasswords(tries, clock)
    this.#passwords = (['operator', 'reader'] as const).flatMap((role) => {
      const word = given[role]
      return word === undefined ? [] : [{ role, hash: hashOf(word) }]
    })
  }

  /** Changes are possible at all. */
  get hasOperator(): boolean {
    return (
      this.#passwords.some(({ role }) => role === 'operator') ||
      this.#people.mayChange ||
      this.#proxy?.namesPeople === true
    )
  }

  /** People may log in by name. */
  get hasPeople(): boolean {
    return this.#people.size > 0
  }

  /** Throws an ApiError for credentials that are wrong. No other place asks where a request comes from. */
  async identify(request: Credentials): Promise<Identity> {
    const { headers } = request
    const client = { address: this.#addressOf(request), isLocal: isLocal(request) }
    const proxied = this.#proxy?.personOf(request)
    if (proxied) return { ...client, ...proxied, by: 'proxy' }
    const { authorization } = headers
    const token =
      authorization === undefined ? cookieOf(headers.cookie ?? '') : bearerOf(authorization)
    const session = token === undefined ? undefined : await this.#ofSession(token)
    if (session) return { ...client, ...session, by: 'session' }
    if (authorization !== undefined) {
      return {
        ...client,
        ...(await this.#authorized(authorization, client.address)),
        by: 'password',
      }
    }
    const mayRead = client.isLocal || this.#isOpen
    return { ...client, by: 'address', ...(mayRead && { role: 'reader' as const }) }
  }

  /** Throws an ApiError unless the client has the role. */
  demand({ role, name }: Identity, needed: Role): void {
    if (needed !== 'reader' && !this.hasOperator) {
      throw new ApiError('no_password', 'changes are off: start the gateway with --web-password')
    }
    if (role === undefined) {
      throw new ApiError('unauthorized', 'log in at /api/v1/session, or send a Bearer password')
    }
    if (roleRanks[role] >= roleRanks[needed]) return
    if (needed === 'admin' && name !== undefined) {
      throw new ApiError('admin_needed', `this takes the role admin, which ${name} has not`)
    }
    const words =
      name === undefined
        ? "this takes the operator's password"
        : `this takes the role operate, which ${name} has not`
    throw new ApiError('operator_needed', words)
  }

  /** The client of a request that has at least the role. Throws an ApiError. */
  async admit(request: Credentials, needed: Role | 'anyone'): Promise<Identity> {
    const identity = await this.identify(request)
    if (needed !== 'anyone') this.demand(identity, needed)
    return identity
  }

  /** A session for a client that knows a password: without a name, or a person's. Throws an ApiError. */
  async logIn(password: string, address: string, name?: string): Promise<LoggedIn> {
    if (name !== undefined) {
      const person = await this.#personOf(name, password, address)
      return { ...person, token: await this.#personTokens.issue(person) }
    }
    const role = this.#roleOfPassword(password, address)
    return { role: roleOfPassword[role], token: this.#tokens.issue(role) }
  }

  /** The client's own address, where a trusted proxy says it. */
  #addressOf(request: Credentials): string {
    return this.#proxy?.clientOf(request) ?? request.socket.remoteAddress ?? ''
  }

  async #ofSession(token: string): Promise<{ readonly role: Role } | Person | undefined> {
    const role = this.#tokens.roleOf(token)
    return role ? { role: roleOfPassword[role] } : await this.#personTokens.personOf(token)
  }

  async #authorized(
    authorization: string,
    address: string,
  ): Promise<{ readonly role: Role } | Person> {
    const bearer = bearerOf(authorization)
    if (bearer !== undefined) {
      return { role: roleOfPassword[this.#roleOfPassword(bearer, address)] }
    }
    const basic = basicOf(authorization)
    if (basic) return await this.#personOf(basic.name, basic.password, address)
    throw new ApiError(
      'unauthorized',
      'send Authorization: Bearer <password>, or Basic with the name of a person',
    )
  }

  async #personOf(name: string, password: string, address: string): Promise<Person> {
    const taken = this.#takeTry(address)
    if (!this.hasPeople) {
      throw new ApiError('password_unset', 'this gateway knows no people by name')
    }
    const person = await this.#people.verify(name, password)
    // Others of this address were checked meanwhile: many at once are no more tries.
    if (taken === 'free' && this.#wrong.isSpent(address)) throw this.#tooManyTries()
    if (person) return person
    throw this.#wrongPassword('person', address, 'the name or the password is wrong')
  }

  #roleOfPassword(password: string, address: string): PasswordRole {
    this.#takeTry(address)
    if (this.#passwords.length === 0) {
      throw new ApiError(
        'password_unset',
        this.hasPeople
          ? 'this gateway has people: send a name too'
          : 'this gateway has no password: leave it out',
      )
    }
    const hash = hashOf(password)
    const known = this.#passwords.filter((each) => timingSafeEqual(each.hash, hash))
    const [first] = known
    if (first) return first.role
    throw this.#wrongPassword('password', address, 'the password is wrong')
  }

  #takeTry(address: string): Try {
    const taken = this.#wrong.take(address)
    if (taken === undefined) throw this.#tooManyTries()
    return taken
  }

  #tooManyTries(): ApiError {
    this.#parts.loginFailed?.('tries')
    return new ApiError('too_many_tries', 'too many wrong passwords: wait a minute', {
      retryAfterSeconds: 60,
      limit: 'password_tries',
    })
  }

  #wrongPassword(fault: LoginFault, address: string, words: string): ApiError {
    this.#wrong.add(address)
    this.#parts.loginFailed?.(fault)
    return new ApiError('wrong_password', words)
  }
}

interface LoggedIn extends Partial<Person> {
  readonly role: Role
  readonly token: string
}

function hashOf(word: string): Buffer {
  return createHash('sha256').update(word).digest()
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S.*)$/i.exec(authorization ?? '')?.[1]?.trimEnd()
}

function basicOf(
  authorization: string,
): { readonly name: string; readonly password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1]
  if (encoded === undefined || encoded.length > longestCredentials) return undefined
  const [, name, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return name === undefined || password === undefined ? undefined : { name, password }
}

function cookieOf(cookies: string): string {
  const start = `${sessionCookie}=`
  const found = cookies.split(/; */).find((cookie) => cookie.startsWith(start))
  return found?.slice(start.length) ?? ''
}
