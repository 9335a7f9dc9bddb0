import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '@crossgear/core-scheduler'
import { isLocal, type Origin } from '../net/local-requests.ts'
import { WrongPasswords } from '../net/wrong-passwords.ts'
import { ApiError } from './api-error.ts'
import { type Role, SessionTokens } from './session-tokens.ts'

/** The client of one request. `role` is absent where it may not even read. */
export interface Identity {
  readonly role?: Role
  readonly address: string
  /** It is on this machine, and no proxy is between. */
  readonly isLocal: boolean
  /** How it proved its role; `address`: by where it is. */
  readonly by: 'password' | 'session' | 'address'
}

/** How the web port is guarded. Defaults at the end of each line. */
export interface AccessOptions {
  /** The operator's. None: nobody changes anything. */
  readonly password?: string
  /** The reader's. None. */
  readonly readerPassword?: string
  /** Other machines read without a password. false. */
  readonly isOpen?: boolean
  /** Wrong passwords that one address may send in a minute; 0: any number. 10. */
  readonly tries?: number
}

/** The parts of a request that say who sent it. */
export type Credentials = Origin & Pick<IncomingMessage, 'headers'>

export const sessionCookie = 'crossgear_session'

/** Decides what a client of the web port may do. */
export class Access {
  readonly #clock: Clock
  #isOpen = false
  #tokens = new SessionTokens({ operator: undefined, reader: undefined })
  #wrong: WrongPasswords
  /** Hashes, so that lengths do not show. */
  #passwords: readonly { readonly role: Role; readonly hash: Buffer }[] = []

  constructor(options: AccessOptions, clock: Clock) {
    this.#clock = clock
    this.#wrong = new WrongPasswords(0, clock)
    this.configure(options)
  }

  /** Replaces all options. Sessions of a former password end. */
  configure(options: AccessOptions): void {
    const { password, readerPassword, isOpen = false, tries = 10 } = options
    const given = { operator: password, reader: readerPassword }
    this.#isOpen = isOpen
    this.#tokens = new SessionTokens(given)
    this.#wrong = new WrongPasswords(tries, this.#clock)
    this.#passwords = (['operator', 'reader'] as const).flatMap((role) => {
      const word = given[role]
      return word === undefined ? [] : [{ role, hash: hashOf(word) }]
    })
  }

  /** Changes are possible at all. */
  get hasOperator(): boolean {
    return this.#passwords.some(({ role }) => role === 'operator')
  }

  /** Throws an ApiError for credentials that are wrong. No other place asks where a request comes from. */
  identify(request: Credentials): Identity {
    const { headers, socket } = request
    const client = { address: socket.remoteAddress ?? '', isLocal: isLocal(request) }
    const bearer = /^Bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1]?.trimEnd()
    if (bearer !== undefined) {
      const session = this.#tokens.roleOf(bearer)
      if (session) return { ...client, role: session, by: 'session' }
      return { ...client, role: this.#roleOfPassword(bearer, client.address), by: 'password' }
    }
    if (headers.authorization !== undefined) {
      throw new ApiError('unauthorized', 'send Authorization: Bearer <password>')
    }
    const role = this.#tokens.roleOf(cookieOf(headers.cookie ?? ''))
    if (role) return { ...client, role, by: 'session' }
    const mayRead = client.isLocal || this.#isOpen
    return { ...client, by: 'address', ...(mayRead && { role: 'reader' as const }) }
  }

  /** Throws an ApiError unless the client has the role. */
  demand({ role }: Identity, needed: Role): void {
    if (needed === 'operator' && !this.hasOperator) {
      throw new ApiError('no_password', 'changes are off: start the gateway with --web-password')
    }
    if (role === undefined) {
      throw new ApiError('unauthorized', 'log in at /api/v1/session, or send a Bearer password')
    }
    if (needed === 'operator' && role !== 'operator') {
      throw new ApiError('operator_needed', "this takes the operator's password")
    }
  }

  /** The client of a request that has at least the role. Throws an ApiError. */
  admit(request: Credentials, needed: Role | 'anyone'): Identity {
    const identity = this.identify(request)
    if (needed !== 'anyone') this.demand(identity, needed)
    return identity
  }

  /** A session for a client that knows a password. Throws an ApiError. */
  logIn(password: string, address: string): { readonly role: Role; readonly token: string } {
    const role = this.#roleOfPassword(password, address)
    return { role, token: this.#tokens.issue(role) }
  }

  #roleOfPassword(password: string, address: string): Role {
    if (this.#wrong.isSpent(address)) {
      throw new ApiError('too_many_tries', 'too many wrong passwords: wait a minute', {
        ...{ retryAfterSeconds: 60, limit: 'password_tries' },
      })
    }
    if (this.#passwords.length === 0) {
      throw new ApiError('password_unset', 'this gateway has no password: leave it out')
    }
    const hash = hashOf(password)
    const known = this.#passwords.filter((each) => timingSafeEqual(each.hash, hash))
    const [first] = known
    if (first) return first.role
    this.#wrong.add(address)
    throw new ApiError('wrong_password', 'the password is wrong')
  }
}

function hashOf(word: string): Buffer {
  return createHash('sha256').update(word).digest()
}

function cookieOf(cookies: string): string {
  const start = `${sessionCookie}=`
  const found = cookies.split(/; */).find((cookie) => cookie.startsWith(start))
  return found?.slice(start.length) ?? ''
}
