import type { Redis } from 'ioredis'
import { maxLanes, StoreError, type LaneNames } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import { commandConnection, type Connection } from './connection.ts'
import { machineClock, type MachineClock } from './clock-offset.ts'
import { askReplica, Replicas } from './replicas.ts'
import { StoreEpoch } from './store-epoch.ts'
import type { CallObserver } from './call-observer.ts'
import { storeErrorOf } from './errors.ts'
import type { OnForeignField } from './foreign-field.ts'
import { StoreKeys } from '../keys.ts'
import { newNodeName } from './node-name.ts'
import { libraryOf } from '../scripts/library.ts'
import { Scripts, type HashSet } from '../scripts/scripts.ts'
import type { ScriptArgument, ScriptName } from '../scripts/script-name.ts'
import { ServerLibrary } from '../scripts/server-library.ts'
import {
  databaseOf,
  isClusterAddress,
  type StoreAddress,
} from '@crossgear/gearmonkey-redis/address'

/** Lanes per call, at most some 30 us of the store's time each. */
const lanesPerCall = 64
/** Such calls under way. One at a time, 8,192 lanes take 98 ms instead of 91. */
const callsAtOnce = 2
/** Lane numbers that an epoch skips: as many as a store may have. */
const numbersSkipped = maxLanes

/** Called after a script in a cluster, to bring indexes in other slots up to date. */
type AfterScript = (name: ScriptName, args: readonly ScriptArgument[]) => Promise<void>

/** Arguments of a script, or what makes them when it is sent. */
type ScriptArguments = readonly ScriptArgument[] | (() => readonly ScriptArgument[])

/** Defaults at the end of each line. */
interface LinkOptions {
  /** A server without an answer for this long counts as unreachable, milliseconds. 5000. */
  readonly answerWithinMs?: number | undefined
  /** None. */
  readonly observer?: CallObserver | undefined
  /** Version of the structures that the node knows. 1. */
  readonly schemaVersion?: number | undefined
  /** `routed`: the automatic rule opens no lane to consumers. `auto`. */
  readonly bridge?: 'auto' | 'routed' | undefined
  /** Nothing. */
  readonly onForeignField?: OnForeignField | undefined
  /** Nothing. */
  readonly onReplicas?: ((count: number) => void) | undefined
  /** A random one. */
  readonly nodeName?: string | undefined
  /** Node's. */
  readonly clock?: MachineClock | undefined
}

/** Shared by all parts of the store: names, keys, scripts, errors. */
export class RedisContext {
  readonly node: string
  readonly redis: Connection
  readonly keys: StoreKeys
  readonly names: LaneNames
  readonly isCluster: boolean
  readonly clock: MachineClock
  /** Says which data the store has. */
  readonly epoch: StoreEpoch
  /** The replicas of a master that Sentinels may replace; none elsewhere. */
  readonly replicas: Replicas | undefined
  /** The name of its function library. */
  readonly library: string
  readonly #scripts: Scripts
  #after: AfterScript | undefined
  #refusal: StoreError | undefined
  #before: (() => void) | undefined

  /** How long by-name workers close a lane to consumers, milliseconds. */
  readonly graceMs: number
  /** The automatic rule opens lanes to consumers. */
  readonly isAutoOpen: boolean
  /** Called with fields of jobs that another program wrote and that are left out. */
  readonly onForeign: OnForeignField

  readonly #observer: CallObserver | undefined

  constructor(address: StoreAddress, names: LaneNames, graceMs: number, options: LinkOptions = {}) {
    const { answerWithinMs, observer, schemaVersion = 1, bridge = 'auto' } = options
    this.node = newNodeName(schemaVersion, options.nodeName)
    this.clock = options.clock ?? machineClock
    this.#observer = observer
    this.isCluster = isClusterAddress(address)
    this.redis = commandConnection(address, this.node, answerWithinMs)
    const database = databaseOf(address)
    this.keys = new StoreKeys(this.isCluster, database)
    this.names = names
    this.graceMs = graceMs
    this.isAutoOpen = bridge === 'auto'
    this.onForeign = options.onForeignField ?? (() => undefined)
    const library = libraryOf(database)
    const server = new ServerLibrary({
      library,
      database,
      usedKey: this.keys.libraries,
      commands: this.redis,
      masters: () => this.masters(),
    })
    this.library = library.name
    this.#scripts = new Scripts(this.redis, library, server)
    this.replicas =
      'sentinels' in address
        ? new Replicas(askReplica(address, `crossgear:${this.node}:replicas`), options.onReplicas)
        : undefined
    this.epoch = new StoreEpoch({
      redis: this.redis,
      masters: () => this.masters(),
      note: (known, histories) => this.#noteEpoch(known, histories),
      replicas: this.replicas,
    })
  }

  /** Not behind the gate of {@link call}, which waits for it. */
  async #noteEpoch(known: number, histories: readonly string[]): Promise<number> {
    const { epochs, laneNumber, open, close } = this.keys
    const args = [known, numbersSkipped, ...histories]
    return Number(await this.#scripts.run('note-epoch', [epochs, laneNumber], [open, close], args))
  }

  /** From now on nothing is asked of the store any more: every call throws this. */
  refuse(refusal: StoreError): void {
    this.#refusal = refusal
  }

  /** Loads the function library. Before any call of it. */
  load(): Promise<void> {
    return this.#scripts.open()
  }

  /** Called after each script that may have changed its lane's state. */
  afterwards(after: AfterScript): void {
    this.#after = after
  }

  /** Called before each call: sends what was gathered, so that calls keep their order. */
  beforehand(before: () => void): void {
    this.#before = before
  }

  /** True where {@link run} may set hashes first. */
  get setsHashes(): boolean {
    return this.#scripts.setsHashes
  }

  /** Runs a script, in one transaction with `hashes` where there are some. */
  readonly run = (
    name: ScriptName,
    keys: readonly string[],
    args: ScriptArguments,
    hashes: readonly HashSet[] = [],
  ): Promise<unknown> => {
    const { open, close } = this.keys
    const words = typeof args === 'function' ? args : () => args
    const reply = this.call(() => this.#timed(name, keys, [open, close], words(), hashes))
    const after = this.#after
    if (!after) return reply
    return reply.then(async (answer) => {
      await after(name, words())
      return answer
    })
  }

  /**
   * Arguments whose place `at` has the store's epoch when they are sent: a call may wait until it is known which data the
   * store has.
   */
  readonly withEpoch = (args: ScriptArgument[], at: number) => (): readonly ScriptArgument[] => {
    args[at] = this.epoch.epoch
    return args
  }

  /**
   * Sends a command and turns failures into a {@link StoreError}. A call that a former master refuses is sent again, to the
   * next one.
   */
  readonly call = async <Reply>(send: () => Promise<Reply>, isAgain = false): Promise<Reply> => {
    if (this.#refusal) throw this.#refusal
    try {
      const gate = this.epoch.gate()
      if (gate) await gate
      while (this.epoch.isHeld) await this.epoch.gate()
      this.#before?.()
      const reply = await send()
      if (this.epoch.isDoubtful) throw new StoreError('UNREACHABLE', 'the master was replaced')
      return reply
    } catch (error) {
      const refusal = storeErrorOf(error)
      if (!isAgain && this.epoch.isDemoted(refusal)) return await this.call(send, true)
      this.#observer?.failed(refusal.code)
      throw refusal
    }
  }

  /** Skips an act if its server is away; something else makes up for it later. */
  readonly ignoreUnavailable = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act()
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
    }
  }

  readonly #timed = async (...call: Parameters<Scripts['run']>): Promise<unknown> => {
    const observer = this.#observer
    if (!observer) return this.#scripts.run(...call)
    const sentMs = performance.now()
    try {
      return await this.#scripts.run(...call)
    } finally {
      observer.called(call[0], performance.now() - sentMs)
    }
  }

  /** Commands about one lane in one write. */
  readonly pipeline = async (
    fill: (pipeline: ReturnType<Redis['pipeline']>) => void,
  ): Promise<unknown[]> => {
    const pipeline = this.redis.pipeline()
    fill(pipeline)
    return await this.#replies(pipeline)
  }

  /** Commands of one slot as one transaction. Redis undoes none: throws the first refusal among them. */
  readonly transaction = async (
    fill: (transaction: ReturnType<Redis['multi']>) => void,
  ): Promise<unknown[]> => {
    const transaction = this.redis.multi()
    fill(transaction)
    return await this.#replies(transaction)
  }

  readonly #replies = async (commands: ReturnType<Redis['pipeline']>): Promise<unknown[]> => {
    const replies = (await this.call(() => commands.exec())) ?? []
    return replies.map(([error, reply]) => {
      if (error) throw storeErrorOf(error)
      return reply
    })
  }

  /** One answer per lane: in a cluster one call each, else in writes of bounded size. */
  readonly eachLane = async (
    lanes: readonly string[],
    ask: (commands: Commands, lane: string) => Promise<unknown>,
  ): Promise<unknown[]> => {
    if (this.isCluster) {
      return this.call(() => Promise.all(lanes.map((lane) => ask(this.redis, lane))))
    }
    const replies: unknown[] = []
    for (const some of chunks(lanes, lanesPerCall)) {
      const answers = await this.pipeline((pipeline) => {
        for (const lane of some) void ask(pipeline as unknown as Commands, lane)
      })
      for (const answer of answers) replies.push(answer)
    }
    return replies
  }

  /** Calls for many lanes, as many as one call may take; in a cluster one each. */
  readonly perLanes = async <Reply>(
    lanes: readonly string[],
    send: (some: readonly string[], first: string) => Promise<readonly Reply[]>,
  ): Promise<Reply[]> => {
    const found: Reply[] = []
    for (const some of chunks(lanes, callsAtOnce * lanesPerCall)) {
      const replies = await Promise.all(this.#calls(some, send))
      for (const reply of replies) found.push(...reply)
    }
    return found
  }

  /** The same without lanes whose server is away. Throws if all of them are. */
  readonly perLanesThere = async <Reply>(
    lanes: readonly string[],
    send: (some: readonly string[], first: string) => Promise<readonly Reply[]>,
  ): Promise<Reply[]> => {
    const found: Reply[] = []
    const failures: unknown[] = []
    let answers = 0
    for (const some of chunks(lanes, callsAtOnce * lanesPerCall)) {
      for (const reply of await Promise.allSettled(this.#calls(some, send))) {
        if (reply.status === 'rejected') failures.push(reply.reason)
        else {
          answers += 1
          found.push(...reply.value)
        }
      }
    }
    const other = failures.find((failure) => !(failure instanceof StoreError))
    if (failures.length > 0 && (other !== undefined || answers === 0)) throw other ?? failures[0]
    return found
  }

  #calls<Reply>(
    lanes: readonly string[],
    send: (some: readonly string[], first: string) => Promise<readonly Reply[]>,
  ): Promise<readonly Reply[]>[] {
    const pieces = [...chunks(lanes, this.isCluster ? 1 : lanesPerCall)]
    return pieces.map((piece) => send(piece, piece[0] ?? ''))
  }

  /**
   * The queue whose hint index a script may write; empty in a cluster, where it is in another slot.
   */
  queueOf(lane: string): string {
    return this.isCluster ? '' : this.names.parse(lane).queue
  }

  /** Lanes, each with the queue of its hint index. */
  withQueues(lanes: readonly string[]): string[] {
    return lanes.flatMap((lane) => [lane, this.queueOf(lane)])
  }

  /** The servers with slots. */
  masters(): readonly Redis[] {
    return 'nodes' in this.redis ? this.redis.nodes('master') : [this.redis]
  }
}

/** Commands sent per lane, on a connection or a pipeline. */
export type Commands = Pick<Redis, 'zcard' | 'exists' | 'zrange' | 'hmget'>
