import { linkedScripts } from '#linked-scripts'
import type { Cluster, Redis } from 'ioredis'
import { Functions, type HashSet } from './functions.ts'
import { Packer } from './packed.ts'
import type { ScriptArgument, ScriptName } from './script-name.ts'

/**
 * Scripts that add jobs or names: a full server refuses them. All others free memory, or let jobs
 * end.
 */
const growing: ReadonlySet<ScriptName> = new Set([
  'step',
  'add-history',
  'keep-records',
  'note-piece',
  'import',
  'replace',
  'batch-new',
  'batch-join',
  'register-lanes',
  'register-in-cluster',
])

/** Scripts with packed arguments, as their heads say. */
const packed: ReadonlySet<ScriptName> = new Set(['step', 'step-free', 'import'])

/** Steps without submissions also run on a full server: one file, two commands. */
const fileOf: Readonly<Partial<Record<ScriptName, string>>> = { 'step-free': 'step' }

type Call = (keys: number, ...args: ScriptArgument[]) => Promise<unknown>
/** A script as it is called. */
interface Defined {
  readonly call: Call
  readonly lua: string
}

type PlainCall = (command: 'EVAL', lua: string, ...args: Parameters<Call>) => Promise<unknown>

/** True if the server lost the script again after ioredis sent it by name. */
const isForgotten = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('NOSCRIPT')

/**
 * The keys, and one of their slot that never exists. While a slot moves, its keys are at two servers, and a script would
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

/** A function has room for 200 names: those of the script itself are in another one than its libraries. */
function textOf(file: string): string {
  const { libraries = [], own = '' } = linkedScripts[file] ?? {}
  return [...libraries, 'local function run()\n', own, 'end\nreturn run()\n'].join('')
}

/**
 * Typed calls of the scripts on one connection. A script that the server has lost is sent again.
 */
export class Scripts {
  readonly #redis: Redis | Cluster
  readonly #database: number
  readonly #packer = new Packer()
  /** Scripts that were called so far: each is hashed at its first call. */
  readonly #defined = new Map<ScriptName, Defined>()
  readonly #plainly: PlainCall
  readonly #functions: Functions

  /** `database`: the connection's. */
  constructor(redis: Redis | Cluster, database = 0) {
    this.#redis = redis
    this.#database = database
    this.#plainly = redis.callBuffer.bind(redis) as PlainCall
    this.#functions = new Functions(redis, {
      database,
      grows: (name) => growing.has(name),
      fileOf: (name) => fileOf[name] ?? name,
    })
  }

  /** Loads the functions that every job needs. Not in a cluster, whose servers come and go. */
  async load(): Promise<void> {
    if ('stream' in this.#redis) await this.#functions.load()
  }

  /** True where {@link run} may set hashes first. */
  setsHashesFor(name: ScriptName): boolean {
    return this.#functions.has(name) && this.#functions.setsHashes
  }

  /**
   * Runs a script. Bulk replies are Buffers, integers numbers, absent values null. `hashes` are set before, in one
   * transaction with it: what is long need not go through Lua.
   */
  run(
    name: ScriptName,
    keys: readonly string[],
    braces: readonly [open: string, close: string],
    args: readonly ScriptArgument[],
    hashes: readonly HashSet[] = [],
  ): Promise<unknown> {
    const isCluster = braces[1] !== ''
    const named = isCluster ? withAbsentKey(keys) : keys
    const words = [...named, ...braces, ...(packed.has(name) ? this.#packer.pack(args) : args)]
    if (this.#functions.has(name)) return this.#functions.call(name, named.length, words, hashes)
    const { call, lua } = this.#defined.get(name) ?? this.#define(name)
    return call(named.length, ...words).catch((error: unknown) => {
      if (!isForgotten(error)) throw error
      return this.#plainly('EVAL', lua, named.length, ...words)
    })
  }

  #define(name: ScriptName): Defined {
    const command = `xg-${name}`
    const head = growing.has(name) ? '#!lua\n' : '#!lua flags=allow-oom\n'
    const lua = `${head}local database = ${this.#database}\n${textOf(fileOf[name] ?? name)}`
    this.#redis.defineCommand(command, { lua })
    const commands = this.#redis as unknown as Record<string, Call>
    const call = commands[`${command}Buffer`]
    if (!call) throw new Error(`no script ${name}`)
    const defined = { call: call.bind(this.#redis), lua }
    this.#defined.set(name, defined)
    return defined
  }
}
