import { Keys } from '../../keys.ts'
import { AcceptedFunction } from './accepted-function.ts'
import { Commands } from '../commands.ts'
import {
  anotherConnection,
  closeConnection,
  type Connection,
  connectionTo,
  type GearMonkeyServer,
  isCluster,
} from '../connections.ts'
import { GearMonkeyError, messageOf } from '../errors.ts'
import type { JobHandler } from './job-run.ts'
import { checkFunctionName } from '../submission.ts'
import { within } from '../within.ts'
import type { Redis } from 'ioredis'

/** Options of a worker. */
export interface WorkerOptions {
  /** Jobs of one function that are worked on at once. Default 1. */
  readonly concurrency?: number
  /** Called with errors outside of handlers. Default: a warning of the process. */
  readonly onError?: (error: GearMonkeyError) => void
  /** Unix time in seconds, by which scheduled jobs are due. Default: the clock of the machine. */
  readonly nowSeconds?: () => number
}

/** Options of {@link GearMonkeyWorker.stop}. */
export interface StopOptions {
  /** Abort the `signal` of the jobs that still run after this time, seconds. Default: never. */
  readonly abortAfterSeconds?: number
}

/** Time to send the server the last commands after all handlers are done, milliseconds. */
const lastWordsMs = 5_000

/**
 * Works on GearMonkey jobs with the commands of the GearMonkey text, in its order, over connections of its own: one to report
 * on, and for each function one to wait for jobs on. While the server is away the worker waits for it.
 */
export class GearMonkeyWorker {
  readonly #server: Connection
  readonly #isOurs: boolean
  readonly #keys: Keys
  readonly #reports: Commands
  readonly #concurrency: number
  readonly #onError: (error: GearMonkeyError) => void
  readonly #nowSeconds: () => number
  readonly #siblings = new Siblings()
  readonly #accepted = new Map<string, AcceptedFunction>()
  #stopped: Promise<void> | undefined

  /**
   * @param server an ioredis instance, used only as the pattern of the worker's own, or a URL
   * @throws GearMonkeyError BAD_ARGUMENT
   */
  constructor(server: GearMonkeyServer, options: WorkerOptions = {}) {
    this.#concurrency = checkConcurrency(options.concurrency ?? 1)
    this.#onError = options.onError ?? ((error) => process.emitWarning(error))
    this.#nowSeconds = options.nowSeconds ?? (() => Math.floor(Date.now() / 1000))
    this.#isOurs = typeof server === 'string'
    this.#server = typeof server === 'string' ? connectionTo(server) : server
    this.#keys = new Keys(isCluster(this.#server))
    this.#reports = this.#connect()
  }

  /**
   * Registers for a function and begins to work on its jobs: due scheduled ones first, then high, normal and low. The
   * handler's result is the job's output; an error that it throws makes the job an `error` with the message as output.
   *
   * @returns when the worker is counted
   * @throws GearMonkeyError BAD_ARGUMENT, ALREADY_ACCEPTED, STOPPED, SCRIPT_MISMATCH, CONNECTION
   */
  async accept(
    fn: string,
    handler: JobHandler,
    options: { readonly concurrency?: number } = {},
  ): Promise<void> {
    checkFunctionName(fn, isCluster(this.#server))
    const concurrency = checkConcurrency(options.concurrency ?? this.#concurrency)
    if (this.#stopped) throw new GearMonkeyError('STOPPED', fn)
    if (this.#accepted.has(fn)) throw new GearMonkeyError('ALREADY_ACCEPTED', fn)
    const accepted = new AcceptedFunction({
      fn,
      handler,
      concurrency,
      reports: this.#reports,
      polls: this.#connect(),
      onError: this.#onError,
      nowSeconds: this.#nowSeconds,
    })
    this.#accepted.set(fn, accepted)
    try {
      await accepted.start()
    } catch (cause) {
      this.#accepted.delete(fn)
      accepted.close()
      if (cause instanceof GearMonkeyError) throw cause
      throw new GearMonkeyError('CONNECTION', messageOf(cause), { cause })
    }
  }

  /**
   * Takes no more jobs, lets the running ones end, reports them, takes the worker out of the counts and closes its
   * connections. A job handed out in that moment is still done: allow a second more than the jobs need.
   */
  stop(options: StopOptions = {}): Promise<void> {
    this.#stopped ??= this.#stop(options)
    return this.#stopped
  }

  async #stop({ abortAfterSeconds }: StopOptions): Promise<void> {
    const all = [...this.#accepted.values()]
    const timer =
      abortAfterSeconds === undefined
        ? undefined
        : setTimeout(() => all.forEach((one) => one.abort()), abortAfterSeconds * 1000)
    await Promise.all(all.map((one) => one.handOutNoMore()))
    clearTimeout(timer)
    const left = Promise.all(all.map((one) => one.leave()))
    await within(left, lastWordsMs, undefined)
    this.#close()
    await left
  }

  #close(): void {
    for (const one of this.#accepted.values()) one.close()
    closeConnection(this.#reports.connection)
    if (this.#isOurs) closeConnection(this.#server)
  }

  #connect(): Commands {
    const connection = anotherConnection(this.#server, 'worker', (cause) =>
      this.#onError(new GearMonkeyError('CONNECTION', messageOf(cause), { cause })),
    )
    this.#siblings.add(connection)
    return new Commands(connection, this.#keys)
  }
}

function checkConcurrency(value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new GearMonkeyError('BAD_ARGUMENT', `concurrency is ${value}`)
}

/** Time for a connection to answer, milliseconds. It may be in a BRPOP of 1 s. */
const answerWithinMs = 2_000

/**
 * Connections to the same server. When one has reconnected, as after a failover, the others are probed, and silent ones are
 * replaced: each by itself would find out much later.
 */
export class Siblings {
  readonly #all = new Set<Redis>()

  /** A Cluster looks after its connections itself. */
  add(connection: Connection): void {
    if (isCluster(connection)) return
    let wasLost = false
    this.#all.add(connection)
    connection.on('close', () => (wasLost = true))
    connection.on('ready', () => {
      if (!wasLost) return
      wasLost = false
      for (const other of this.#all) if (other !== connection) void ask(other)
    })
    connection.once('end', () => this.#all.delete(connection))
  }
}

async function ask(connection: Redis): Promise<void> {
  const { stream, status } = connection
  if (status !== 'ready') return
  const answer = await within(connection.ping(), answerWithinMs, undefined).catch(() => 'an error')
  // The worker may have found out by itself meanwhile.
  if (answer === undefined && connection.stream === stream) connection.disconnect(true)
}
