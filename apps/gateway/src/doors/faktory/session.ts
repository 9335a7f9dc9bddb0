import { functionFault, type StoreError } from '@crossgear/core-scheduler'
import {
  error,
  FwpError,
  type Hello,
  LineDecoder,
  okReply,
  parseCommand,
  parseHello,
  type Verb,
} from '@crossgear/fwp-codec'
import type { Connection, ConnectionHandler, WorkLeft } from '../net/connection.ts'
import type { ReplySlot } from '../net/reply-slots.ts'
import type { FaktoryContext } from './context.ts'
import type { Greeting } from './handshake.ts'
import type { Worker, WorkerConnection } from './workers.ts'

/** Longest line before HELLO. */
const maxHelloBytes = 64 * 1024
/** FETCH commands of a connection that wait for jobs at a time. What it says behind them waits, as at Faktory behind one. */
export const maxWaitingFetches = 100
/** A consumer with labels `fn:<name>` takes jobs of these functions alone. */
const functionLabel = 'fn:'
const tooManyTries = 'too many wrong passwords from this address, try again in a minute'

/**
 * Handles a verb: reads the argument, calls the scheduler, answers. Throws an FwpError for a wrong
 * argument; its text is the answer.
 */
export type Handler = (session: Session, argument: Buffer) => void

/** A handler for every verb of the protocol. */
export type Handlers = Readonly<Record<Verb, Handler>>

/** A FETCH in progress. */
interface PendingFetch {
  /** Takes no job any more, but waits for its time. */
  withdraw(): void
  /** The client sends nothing any more. A job that it gets now would wait for its `reserve_for`. */
  giveUp(): void
  /** The client has left. */
  cancel(): void
}

/** One connection: greeting, HELLO, then commands, answered in order. */
export class Session implements ConnectionHandler, WorkerConnection {
  readonly context: FaktoryContext
  /** FETCH commands in progress. */
  readonly fetches = new Set<PendingFetch>()
  readonly #connection: Connection
  readonly #handlers: Handlers
  readonly #decoder = new LineDecoder({ maxLineBytes: maxHelloBytes })
  readonly #greeting: Greeting
  readonly #stopWaiting: () => void
  #worker: Worker | undefined
  #functions: ReadonlySet<string> | undefined
  #isHeld = false
  /** Slots that commands have taken. */
  #reserved = 0
  #hasEnded = false
  #hasLeft = false
  /** The client said END. */
  #saidEnd = false

  constructor(connection: Connection, context: FaktoryContext, handlers: Handlers) {
    this.#connection = connection
    this.#handlers = handlers
    this.context = context
    this.#greeting = context.handshake.greeting()
    if (context.wrongPasswords.isRefused(connection.address)) {
      this.#stopWaiting = () => undefined
      this.#turnAway('password_tries', tooManyTries)
      return
    }
    connection.send(this.#greeting.hi)
    this.#stopWaiting = context.clock.after(context.helloWithinMs, () => {
      context.rejected('silence')
      connection.destroy()
    })
  }

  /** True once the client sends nothing any more: it can acknowledge no job here. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** True once the client has left. */
  get hasLeft(): boolean {
    return this.#hasLeft
  }

  get peer(): string {
    return this.#connection.peer
  }

  /** The client's address. */
  get address(): string {
    return this.#connection.address
  }

  /** Counts a refusal of the store. */
  readonly storeRefused = (refusal: StoreError): void =>
    this.context.rejected('store', this.address, refusal)

  /** The worker with the fetched jobs. Only after HELLO. */
  get worker(): Worker {
    if (!this.#worker) throw new Error('no HELLO yet')
    return this.#worker
  }

  /** The functions in the consumer's labels, if any. */
  get functions(): ReadonlySet<string> | undefined {
    return this.#functions
  }

  /** True if FETCH may hand out jobs. */
  get mayFetch(): boolean {
    return this.worker.state === 'running' && !this.context.state.draining && !this.#hasEnded
  }

  data(chunk: Buffer): void {
    this.#decoder.push(chunk)
  }

  work(max: number): WorkLeft {
    try {
      for (let taken = 0; taken < max; taken += 1) {
        if (this.#mustWait) return 'held'
        const line = this.#decoder.next()
        if (line === undefined) return 'none'
        if (this.#worker) this.#command(line)
        else this.#hello(line)
        if (this.#connection.gone) return 'none'
      }
      return this.#mustWait ? 'held' : 'some'
    } catch (problem) {
      if (!(problem instanceof FwpError)) throw problem
      this.#turnAway('line', problem.message)
      return 'none'
    } finally {
      this.#connection.keeps(this.#decoder.keptBytes)
    }
  }

  /** All commands are answered still, but FETCH gets no job. */
  ended(): void {
    this.#hasEnded = true
    for (const fetch of this.fetches) fetch.giveUp()
  }

  closed(): void {
    this.#hasEnded = true
    this.#hasLeft = true
    this.#stopWaiting()
    for (const fetch of this.fetches) fetch.cancel()
    const byPeer = this.#saidEnd || this.#connection.hasPeerLeft
    if (this.#worker) this.context.workers.leave(this.#worker, this, byPeer)
  }

  send(bytes: Uint8Array): void {
    this.#connection.send(bytes)
  }

  /** True if there is memory for more names; see {@link Connection.hasRoomFor}. */
  hasRoomFor(bytes: number): boolean {
    return this.#connection.hasRoomFor(bytes)
  }

  keepsNames(bytes: number): void {
    this.#connection.keepsNames(bytes)
  }

  /** The slot of the reply to the command that runs. `moreBytes`: memory that it holds until then. */
  reserve(moreBytes = 0): ReplySlot {
    this.#reserved += 1
    return this.#connection.reserve(moreBytes)
  }

  /** Commands from now on wait until the returned function is called. */
  holdCommands(): () => void {
    this.#isHeld = true
    return () => {
      this.#isHeld = false
      this.#goOn()
    }
  }

  /** A FETCH has its answer. */
  fetched(fetch: PendingFetch): void {
    this.fetches.delete(fetch)
    this.#goOn()
  }

  get #mustWait(): boolean {
    return this.#isHeld || this.fetches.size >= maxWaitingFetches
  }

  #goOn(): void {
    if (!this.#mustWait) this.#connection.goOn()
  }

  /** The client says END: the connection ends after all replies. Commands behind are not run. */
  end(): void {
    this.#saidEnd = true
    this.#connection.end()
  }

  /** The gateway failed it: it ends at once. */
  fail(problem: unknown): void {
    this.#connection.fail(problem)
  }

  quieted(): void {
    for (const fetch of this.fetches) fetch.withdraw()
  }

  drop(): void {
    this.context.rejected('dead')
    this.#connection.destroy()
  }

  #command(line: Buffer): void {
    const command = parseCommand(line)
    this.context.state.commands += 1
    if (command.verb === 'UNKNOWN') {
      this.send(error(`unknown command ${command.word}`))
      return
    }
    const before = this.#reserved
    try {
      this.#handlers[command.verb](this, command.argument)
    } catch (problem) {
      if (!(problem instanceof FwpError)) throw problem
      if (this.#reserved > before) throw new Error(problem.message, { cause: problem })
      this.send(error(problem.message))
    }
  }

  /** `HELLO {...}`: `+OK`, or an error and the end. */
  #hello(line: Buffer): void {
    this.#stopWaiting()
    let hello: Hello
    try {
      hello = parseHello(line)
    } catch (problem) {
      if (!(problem instanceof FwpError)) throw problem
      this.#turnAway('hello', problem.message)
      return
    }
    const { wrongPasswords } = this.context
    // Connections greeted before the limit was reached count too.
    if (wrongPasswords.take(this.address) === undefined) {
      this.#turnAway('password_tries', tooManyTries)
      return
    }
    if (!this.#greeting.admits(hello)) {
      wrongPasswords.add(this.address)
      this.#turnAway('password', 'Invalid password')
      return
    }
    this.#decoder.maxLineBytes = this.context.maxLineBytes
    this.#functions = functionsOf(hello)
    this.#worker = this.context.workers.join(hello, this)
    this.send(okReply)
  }

  #turnAway(reason: 'hello' | 'password' | 'password_tries' | 'line', text: string): void {
    this.context.rejected(reason)
    this.send(error(text))
    this.#connection.end()
  }
}

function functionsOf({ labels }: Hello): ReadonlySet<string> | undefined {
  const names = labels.filter((label) => label.startsWith(functionLabel))
  if (names.length === 0) return undefined
  const functions = names.map((label) => label.slice(functionLabel.length))
  return new Set(functions.filter((fn) => functionFault(fn) === undefined))
}
