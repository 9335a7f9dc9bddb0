import { StoreError } from '@crossgear/core-scheduler'
import type { Redis } from 'ioredis'
import { libraryPrefix, type Library } from './library.ts'

/** Libraries of versions that had one for each of two scripts: their gateways load them again when they miss them. */
const former = /^crossgear_step(-free)?_[0-9a-f]{12}$/

/** A server refuses functions to this user, or is too old to know them. */
const forbidden = /^(?:NOPERM .*|ERR unknown command )['`](?:fcall|function)/i

interface LibraryParts {
  readonly library: Library
  readonly database: number
  /** A hash of the library that each known node uses. */
  readonly usedKey: string
  readonly commands: Pick<Redis, 'hvals'>
  /** The servers with slots. */
  readonly masters: () => readonly Redis[]
}

/** Keeps the library of this version on each server. */
export class ServerLibrary {
  readonly #parts: LibraryParts
  #loading: Promise<void> | undefined

  constructor(parts: LibraryParts) {
    this.#parts = parts
  }

  /** Loads the library where it is absent, and removes those that no known node uses. */
  async open(): Promise<void> {
    const { library, usedKey, commands } = this.#parts
    const used = new Set([library.name, ...(await commands.hvals(usedKey))])
    await this.#onEach((server) => this.#openOn(server, used))
  }

  /** Loads the library into all servers again: one of them has lost it, or is new. */
  async reload(): Promise<void> {
    this.#loading ??= this.#onEach((server) => this.#loadInto(server))
    try {
      await this.#loading
    } finally {
      this.#loading = undefined
    }
  }

  /** A server of a cluster that is away gets it with the first call that misses it. */
  async #onEach(act: (server: Redis) => Promise<void>): Promise<void> {
    const tries = await Promise.allSettled(this.#parts.masters().map(act))
    const failures = tries.filter((one) => one.status === 'rejected')
    if (failures.length > 0 && failures.length === tries.length)
      throw explained(failures[0]?.reason)
  }

  async #openOn(server: Redis, used: ReadonlySet<string>): Promise<void> {
    const { library, database } = this.#parts
    const there = await namesOn(server)
    if (!there.includes(library.name)) await this.#loadInto(server)
    for (const name of there) {
      const isOurs = name.startsWith(libraryPrefix(database)) || former.test(name)
      if (isOurs && !used.has(name)) await this.#removeFrom(server, name)
    }
  }

  async #removeFrom(server: Redis, name: string): Promise<void> {
    try {
      await server.call('FUNCTION', 'DELETE', name)
    } catch (error) {
      // Another gateway that starts now was faster.
      if (!(error instanceof Error) || !error.message.includes('Library not found')) throw error
    }
  }

  async #loadInto(server: Redis): Promise<void> {
    try {
      await server.call('FUNCTION', 'LOAD', 'REPLACE', this.#parts.library.text)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const advice = 'the store is full and lacks the functions of this version: raise maxmemory'
      // The cause stays out of it: it holds the whole text.
      throw new Error(message.startsWith('OOM') ? `OOM ${advice}` : message)
    }
  }
}

/** Says what to do where functions are forbidden. */
export function explained(error: unknown): unknown {
  if (!(error instanceof Error) || !forbidden.test(error.message)) return error
  const advice = 'Crossgear needs Redis 7 or Valkey, and a user that may use FUNCTION and FCALL'
  return new StoreError('REFUSED', `${error.message}: ${advice}`, { cause: error })
}

async function namesOn(server: Redis): Promise<string[]> {
  const reply = (await server.call('FUNCTION', 'LIST', 'LIBRARYNAME', 'crossgear_*')) as unknown[][]
  return reply.map((fields) => String(fields[fields.indexOf('library_name') + 1]))
}

/** True where the server has no such function: it was flushed, or has taken over without it. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Function not found')
}
