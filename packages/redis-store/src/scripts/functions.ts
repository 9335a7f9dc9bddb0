import { functionOf, type ServerFunction } from './function-text.ts'
import type { ScriptArgument, ScriptName } from './script-name.ts'

/** Scripts that every job needs: as server functions they cost 40 to 60 us less per call. */
const wanted: readonly ScriptName[] = ['step', 'step-free']
const pattern = 'crossgear_*'

type CommandWord = string | number | Buffer

interface Asker {
  callBuffer(command: string, ...args: CommandWord[]): Promise<unknown>
}

/** A hash with one field, set in the transaction of a call that takes it over. */
export interface HashSet {
  readonly key: string
  readonly field: string
  readonly value: Uint8Array
}

interface FunctionSource {
  readonly database: number
  readonly grows: (name: ScriptName) => boolean
  readonly fileOf: (name: ScriptName) => string
}

/** Functions of one server. Where it has none, or forbids them, scripts do the same. */
export class Functions {
  readonly #redis: Asker
  readonly #functions: ReadonlyMap<ScriptName, ServerFunction>
  #isLoaded = false
  #hasTransactions = false

  constructor(redis: Asker, { database, grows, fileOf }: FunctionSource) {
    this.#redis = redis
    this.#functions = new Map(
      wanted.map((name) => [name, functionOf(fileOf(name), { database, grows: grows(name) })]),
    )
  }

  /**
   * Loads the functions that the server lacks, and removes those of other versions, which load theirs
   * again when they miss them.
   */
  async load(): Promise<void> {
    try {
      const there = await this.#names()
      await this.#loadAll(new Set(there))
      this.#hasTransactions = await this.#mayUseTransactions()
      const own = new Set([...this.#functions.values()].map(({ name }) => name))
      for (const name of there) {
        if (!own.has(name)) await this.#redis.callBuffer('FUNCTION', 'DELETE', name)
      }
    } catch {
      // An old server, or a user without the permission: scripts do the same.
      this.#isLoaded = false
    }
  }

  has(name: ScriptName): boolean {
    return this.#isLoaded && this.#functions.has(name)
  }

  /** True where {@link call} may set hashes first. */
  get setsHashes(): boolean {
    return this.#isLoaded && this.#hasTransactions
  }

  /** Sets the hashes and calls the function, all or nothing. A function that the server has lost is loaded again. */
  async call(
    name: ScriptName,
    keys: number,
    words: readonly ScriptArgument[],
    hashes: readonly HashSet[] = [],
  ): Promise<unknown> {
    const args = [this.#functions.get(name)?.name ?? '', keys, ...words] as CommandWord[]
    const send = (): unknown =>
      hashes.length > 0 ? this.#transaction(hashes, args) : this.#redis.callBuffer('FCALL', ...args)
    try {
      return await send()
    } catch (error) {
      if (!isMissing(error)) throw error
      await this.#loadAll()
      return send()
    }
  }

  /** All in one turn, so that no other command comes between them. */
  async #transaction(hashes: readonly HashSet[], args: readonly CommandWord[]): Promise<unknown> {
    const redis = this.#redis
    const queued = [redis.callBuffer('MULTI')]
    for (const { key, field, value } of hashes) {
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
      queued.push(redis.callBuffer('HSET', key, field, bytes))
    }
    queued.push(redis.callBuffer('FCALL', ...args))
    queued.push(redis.callBuffer('EXEC'))
    // The first refusal says why; EXEC says only that there was one.
    const replies = (await Promise.all(queued)).at(-1)
    const reply: unknown = Array.isArray(replies) ? replies.at(-1) : undefined
    if (reply instanceof Error) throw reply
    return reply
  }

  /** All in one turn: no command of others may come into the transaction, and none may stay open. */
  async #mayUseTransactions(): Promise<boolean> {
    const commands = ['MULTI', 'EXEC', 'DISCARD'].map((name) => this.#redis.callBuffer(name))
    const [begun, ended] = await Promise.allSettled(commands)
    return begun?.status === 'fulfilled' && ended?.status === 'fulfilled'
  }

  /** A name holds a hash of the text: one that is there already has nothing new to bring. */
  async #loadAll(there: ReadonlySet<string> = new Set()): Promise<void> {
    for (const { name, library } of this.#functions.values()) {
      if (!there.has(name)) await this.#redis.callBuffer('FUNCTION', 'LOAD', 'REPLACE', library)
    }
    this.#isLoaded = true
  }

  async #names(): Promise<readonly string[]> {
    const reply = await this.#redis.callBuffer('FUNCTION', 'LIST', 'LIBRARYNAME', pattern)
    const names: string[] = []
    for (const fields of reply as Buffer[][]) {
      for (let at = 0; at + 1 < fields.length; at += 2) {
        if (String(fields[at]) === 'library_name') names.push(String(fields[at + 1]))
      }
    }
    return names
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Function not found')
}
