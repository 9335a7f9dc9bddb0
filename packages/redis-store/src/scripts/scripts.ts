import type { Cluster, Redis } from 'ioredis'
import type { Library } from './library.ts'
import { Packer } from './packed.ts'
import type { ScriptArgument, ScriptName } from './script-name.ts'
import { explained, isMissing, type ServerLibrary } from './server-library.ts'

/** Functions with packed arguments, as the heads of their files say. */
const packed: ReadonlySet<ScriptName> = new Set(['step', 'step-free', 'import'])

type CommandWord = string | number | Buffer

/** A hash with one field, set in the transaction of a call that takes it over. */
export interface HashSet {
  readonly key: string
  readonly field: string
  readonly value: Uint8Array
}

/**
 * The keys, and one of their slot that never exists. While a slot moves, its keys are at two servers, and a function would
 * miss some: with an absent key among several, both servers answer TRYAGAIN instead of running it.
 */
function withAbsentKey(keys: readonly string[]): readonly string[] {
  const [first] = keys
  if (first === undefined) return keys
  const open = first.indexOf('{')
  const close = first.indexOf('}', open + 1)
  const tag = open >= 0 && close > open + 1 ? first.slice(open + 1, close) : first
  return [...keys, `xg:absent:{${tag}}`]
}

/** Typed calls of the library's functions on one connection. A server that has lost them gets them again. */
export class Scripts {
  readonly #redis: Redis | Cluster
  readonly #library: Library
  readonly #server: ServerLibrary
  readonly #packer = new Packer()
  readonly #functions = new Map<ScriptName, string>()
  #hasTransactions = false

  constructor(redis: Redis | Cluster, library: Library, server: ServerLibrary) {
    this.#redis = redis
    this.#library = library
    this.#server = server
  }

  /** Loads the library. Throws a `StoreError` where the server forbids that. */
  async open(): Promise<void> {
    await this.#server.open()
    this.#hasTransactions = 'stream' in this.#redis && (await this.#mayUseTransactions())
  }

  /** True where {@link run} may set hashes first. Not in a cluster. */
  get setsHashes(): boolean {
    return this.#hasTransactions
  }

  /**
   * Runs a function. Bulk replies are Buffers, integers numbers, absent values null. `hashes` are set before, all or nothing:
   * what is long need not go through Lua.
   */
  async run(
    name: ScriptName,
    keys: readonly string[],
    braces: readonly [open: string, close: string],
    args: readonly ScriptArgument[],
    hashes: readonly HashSet[] = [],
  ): Promise<unknown> {
    const isCluster = braces[1] !== ''
    const named = isCluster ? withAbsentKey(keys) : keys
    const words = packed.has(name) ? this.#packer.pack(args) : args
    const call = [this.#nameOf(name), named.length, ...named, ...braces, ...words] as CommandWord[]
    const send = (): Promise<unknown> =>
      hashes.length > 0 ? this.#transaction(hashes, call) : this.#redis.callBuffer('FCALL', ...call)
    try {
      return await send()
    } catch (error) {
      if (!isMissing(error)) throw explained(error)
      await this.#server.reload()
      return send()
    }
  }

  #nameOf(script: ScriptName): string {
    const known = this.#functions.get(script)
    if (known !== undefined) return known
    const name = this.#library.functionOf(script)
    this.#functions.set(script, name)
    return name
  }

  /** All in one turn, so that no other command comes between them. */
  async #transaction(hashes: readonly HashSet[], call: readonly CommandWord[]): Promise<unknown> {
    const redis = this.#redis
    const queued = [redis.callBuffer('MULTI')]
    for (const { key, field, value } of hashes) {
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
      queued.push(redis.callBuffer('HSET', key, field, bytes))
    }
    queued.push(redis.callBuffer('FCALL', ...call))
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
}
