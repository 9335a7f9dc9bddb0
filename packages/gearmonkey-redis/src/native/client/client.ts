import { Keys } from '../../keys.ts'
import { awaitLock } from './await-lock.ts'
import { Commands } from '../commands.ts'
import {
  anotherConnection,
  closeConnection,
  connected,
  type Connection,
  connectionTo,
  type GearMonkeyServer,
  isCluster,
} from '../connections.ts'
import { GearMonkeyError, messageOf } from '../errors.ts'
import { isFinished, type JobRecord, jobRecordOf } from '../job-record.ts'
import {
  checkFunctionName,
  destinationOf,
  type Payload,
  type RunOptions,
  type SubmitOptions,
  timeoutOf,
  valueOf,
} from '../submission.ts'
import { Submissions } from './submissions.ts'

/**
 * Submits GearMonkey jobs and reads their state, with the commands of the GearMonkey text in its order. They go over the
 * given connection; each blocking call has its own connection to the same server.
 */
export class GearMonkeyClient {
  readonly #connection: Connection
  readonly #isOurs: boolean
  readonly #keys: Keys
  readonly #commands: Commands
  readonly #submissions: Submissions
  readonly #waiting: WaitingConnections

  /**
   * @param server an ioredis instance, which stays the caller's to close, or a URL
   * @throws GearMonkeyError BAD_ARGUMENT
   */
  constructor(server: GearMonkeyServer) {
    this.#isOurs = typeof server === 'string'
    this.#connection = typeof server === 'string' ? connectionTo(server) : server
    // A failed call reports its error itself.
    if (this.#isOurs) this.#connection.on('error', () => undefined)
    this.#keys = new Keys(isCluster(this.#connection))
    this.#commands = new Commands(this.#connection, this.#keys)
    this.#submissions = new Submissions(this.#commands)
    this.#waiting = new WaitingConnections(this.#connection)
  }

  /**
   * Submits a job.
   * @returns its id, which with `fn` names it; with `blocking` when the job is finished, well or not
   * @throws GearMonkeyError BAD_ARGUMENT, NO_WORKERS, NO_ID, SUBMIT_FAILED, BLOCKING_TIMEOUT,
   *   WAIT_LOST, CONNECTION, STOPPED
   */
  async run(fn: string, input: Payload, options: RunOptions = {}): Promise<number> {
    const timeoutSeconds = timeoutOf(options)
    if (!options.blocking) return this.#submitOne(fn, input, options)
    checkFunctionName(fn, isCluster(this.#connection))
    destinationOf(options)
    return this.#waiting.use(async (connection) => {
      const id = await this.#submitOne(fn, input, options)
      await awaitLock(new Commands(connection, this.#keys), {
        fn,
        id,
        timeoutSeconds,
        isFinished: async () => isFinished(await this.get(fn, id)),
      })
      return id
    })
  }

  /**
   * Submits many jobs of one function, up to 100 by one call.
   * @returns their ids, in the order of `inputs`
   * @throws GearMonkeyError BAD_ARGUMENT, NO_WORKERS, NO_ID, SUBMIT_FAILED
   */
  async runMany(
    fn: string,
    inputs: readonly Payload[],
    options: SubmitOptions = {},
  ): Promise<number[]> {
    checkFunctionName(fn, isCluster(this.#connection))
    const destination = destinationOf(options)
    const values = inputs.map(valueOf)
    if (options.rollCall) await this.#rollCall(fn)
    return this.#submissions.many(fn, values, destination)
  }

  /**
   * Reads a job.
   * @returns the job, or undefined if the server has none of that name: it never had, or the job
   *   finished more than 25 hours ago
   * @throws GearMonkeyError BAD_ARGUMENT, READ_FAILED
   */
  async get(fn: string, id: number): Promise<JobRecord | undefined> {
    checkFunctionName(fn, isCluster(this.#connection))
    try {
      return jobRecordOf(await this.#commands.read(fn, id))
    } catch (cause) {
      throw new GearMonkeyError('READ_FAILED', `${fn} ${id}: ${messageOf(cause)}`, { cause })
    }
  }

  /** Ends blocking calls with WAIT_LOST, and closes every connection that the client opened. */
  close(): void {
    this.#waiting.close()
    if (this.#isOurs) closeConnection(this.#connection)
  }

  async #submitOne(fn: string, input: Payload, options: SubmitOptions): Promise<number> {
    checkFunctionName(fn, isCluster(this.#connection))
    const destination = destinationOf(options)
    const value = valueOf(input)
    if (options.rollCall) await this.#rollCall(fn)
    return this.#submissions.one(fn, value, destination)
  }

  async #rollCall(fn: string): Promise<void> {
    let reply: unknown
    try {
      reply = await this.#commands.countedWorkers(fn)
    } catch (cause) {
      throw new GearMonkeyError('NO_WORKERS', `${fn}: ${messageOf(cause)}`, { cause })
    }
    const count = Buffer.isBuffer(reply) ? reply.toString('latin1') : 'no count'
    if (!/^\d+$/.test(count) || Number(count) < 1) {
      throw new GearMonkeyError('NO_WORKERS', `${fn}: ${count}`)
    }
  }
}

/** Connections kept for the next blocking call; more are opened when needed and closed after. */
const keptIdle = 4

/** A connection for each blocking call that is under way. */
class WaitingConnections {
  readonly #of: Connection
  readonly #idle: Connection[] = []
  readonly #busy = new Set<Connection>()
  #closed = false

  constructor(of: Connection) {
    this.#of = of
  }

  /**
   * Runs a call on a connection that is ready and that nobody else uses.
   * @throws GearMonkeyError STOPPED, CONNECTION, and what the call throws
   */
  async use<T>(call: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#closed) throw new GearMonkeyError('STOPPED', 'no blocking call can begin')
    const connection = this.#idle.pop() ?? anotherConnection(this.#of, 'waiting')
    this.#busy.add(connection)
    try {
      try {
        await connected(connection)
      } catch (cause) {
        throw new GearMonkeyError('CONNECTION', messageOf(cause), { cause })
      }
      const result = await call(connection)
      this.#keep(connection)
      return result
    } catch (error) {
      closeConnection(connection) // a call may still be blocked on it
      throw error
    } finally {
      this.#busy.delete(connection)
    }
  }

  /** Ends the calls that are under way. */
  close(): void {
    this.#closed = true
    for (const connection of [...this.#idle.splice(0), ...this.#busy]) closeConnection(connection)
  }

  #keep(connection: Connection): void {
    const wanted = !this.#closed && this.#idle.length < keptIdle
    if (wanted && connection.status === 'ready') this.#idle.push(connection)
    else closeConnection(connection)
  }
}
