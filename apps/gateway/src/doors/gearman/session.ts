import {
  type Scheduler,
  type StoreError,
  toStoreError,
  type WorkerIdentity,
} from '@crossgear/core-scheduler'
import {
  type Argument,
  Decoder,
  encodeResponse,
  GearmanCodecError,
  type Packet,
  type PacketName,
  type ResponseName,
} from '@crossgear/gearman-codec'
import { storeErrorText } from '../net/store-refusal.ts'
import { Limiter } from '../net/limiter.ts'
import type { AdminAccess } from '../net/networks.ts'
import type { Connection, ConnectionHandler, WorkLeft } from '../net/connection.ts'
import { ClientSide } from './client-side.ts'
import { type FunctionName, FunctionNames } from './function-names.ts'
import {
  type ErrorKey,
  errorReply,
  reasonOf,
  type RejectReason,
  storeFailedReply,
} from './replies.ts'
import type { SideContext, SideSession } from './side-session.ts'
import { WorkerSide } from './worker-side.ts'

/** Rare packets with store calls that one connection runs at a time. */
const askedAtOnce = 4
const noTurns: Pick<Limiter, 'run'> = { run: (step) => step() }

/** Handles a packet. It has as many arguments as its type. */
export type PacketHandler = (session: Session, args: readonly Buffer[]) => void

/** The port's handlers, for its sessions. */
export interface Handlers {
  readonly packets: Readonly<Record<PacketName, PacketHandler>>
  /** Handles a line of the text protocol. */
  readonly takeLine: (session: Session, line: string) => void
}

/** State shared by all sessions of the door. */
export interface DoorContext extends SideContext {
  readonly handlers: Handlers
  readonly adminAccess: AdminAccess
  readonly sessions: ReadonlySet<Session>
  /** Runs lists of the whole store in turn, over all connections. */
  readonly listing: Limiter
}

/** One connection: a client, a worker, an administrator, or all of them. */
export class Session implements ConnectionHandler, SideSession {
  readonly connection: Connection
  /** Number of the connection in the reply to `workers`. */
  readonly number: number
  readonly asWorker: WorkerIdentity
  readonly context: DoorContext
  readonly client: ClientSide
  readonly worker: WorkerSide
  /** Value of SET_CLIENT_ID. */
  clientId = ''
  readonly #decoder: Decoder
  readonly #names: FunctionNames
  readonly #onEnd: () => void
  readonly #asking = new Limiter(askedAtOnce)
  readonly #lines = new Limiter(1)
  #gone = false

  constructor(connection: Connection, number: number, context: DoorContext, ended: () => void) {
    const { maxPacketBytes, maxLineBytes, exceptionsForAll = false } = context.options
    this.connection = connection
    this.number = number
    this.asWorker = { name: `g${number}`, isShared: false }
    this.context = context
    this.#onEnd = ended
    this.client = new ClientSide(this, exceptionsForAll)
    this.worker = new WorkerSide(this)
    this.#names = new FunctionNames(this.scheduler.registry.names)
    this.#decoder = new Decoder({
      ...(maxPacketBytes !== undefined && { maxPacketBytes }),
      ...(maxLineBytes !== undefined && { maxLineBytes }),
    })
  }

  get scheduler(): Scheduler {
    return this.context.options.scheduler
  }

  get awaitsJobs(): boolean {
    return this.client.awaitsJobs
  }

  get gone(): boolean {
    return this.#gone
  }

  /** Sends a packet after all replies that are still owed. */
  send(name: ResponseName, ...args: readonly Argument[]): void {
    this.connection.send(encodeResponse(name, ...args))
  }

  sendError(key: ErrorKey): void {
    this.connection.send(this.refusal(key))
  }

  refusal(key: ErrorKey): Buffer {
    this.rejected(reasonOf(key))
    return errorReply(key)
  }

  rejected(reason: RejectReason, cause?: StoreError): void {
    this.context.options.rejected?.(reason, this.connection.address, cause)
  }

  unasked(key: ErrorKey): Buffer {
    this.worker.mayMistake()
    return this.refusal(key)
  }

  readonly storeRefused = (refusal: StoreError): void => this.rejected('store', refusal)

  /** Sends the reply to a rare packet, in its turn. */
  answer(make: () => Promise<Buffer>): void {
    this.#answer(this.#asking, make, storeFailedReply)
  }

  /** Answers by one cheap read: it runs now, before anything that the peer sends later. */
  answerNow(make: () => Promise<Buffer>): void {
    this.#answer(noTurns, make, storeFailedReply)
  }

  /** Sends the reply to a text command; one runs at a time. */
  answerLine(make: () => Promise<Buffer>, ifStoreFails: (text: string) => Buffer): void {
    this.#answer(this.#lines, make, ifStoreFails)
  }

  #answer(
    turns: Pick<Limiter, 'run'>,
    make: () => Promise<Buffer>,
    ifStoreFails: (text: string) => Buffer,
  ): void {
    const slot = this.connection.reserve()
    const ask = async (): Promise<Buffer | undefined> => (this.#gone ? undefined : make())
    turns.run(ask).then(
      (bytes) => slot.fill(bytes),
      (problem: unknown) => {
        slot.fill(ifStoreFails(storeErrorText(toStoreError(problem), this.storeRefused)))
      },
    )
  }

  /** Reads a function name from a packet; an invalid one is answered with an error, if the packet has a reply. */
  readFunction(bytes: Buffer, hasReply = true): FunctionName | undefined {
    const name = this.#names.read(bytes)
    if (typeof name !== 'string') return name
    this.#refuse(name, hasReply)
    return undefined
  }

  /** Reads the name of a lane that the request may bring into being. */
  readLane(bytes: Buffer, hasReply = true): FunctionName | undefined {
    const name = this.readFunction(bytes, hasReply)
    const { laneQuota } = this.context.options
    if (!name || (laneQuota?.admits(name.lane, this.connection.address) ?? true)) return name
    this.#refuse('NEW_FUNCTION_LIMIT', hasReply)
    return undefined
  }

  #refuse(key: ErrorKey, hasReply: boolean): void {
    if (hasReply) this.sendError(key)
    else this.rejected(reasonOf(key))
  }

  data(chunk: Buffer): void {
    this.#decoder.push(chunk)
  }

  work(max: number): WorkLeft {
    const left = this.#takeMessages(max)
    this.connection.keeps(this.#decoder.keptBytes)
    this.worker.turnOver()
    return left
  }

  closed(): void {
    this.#gone = true
    this.#leave()
  }

  /** The jobs of a worker whose connection ends are free at once, though the peer may keep its half of the connection open for a while. */
  #leave(): void {
    this.#onEnd()
    this.client.leave()
    this.worker.leave()
  }

  #takeMessages(max: number): WorkLeft {
    try {
      for (let taken = 0; taken < max; taken += 1) {
        const message = this.#decoder.next()
        if (message === undefined) return 'none'
        if (message.name === 'TEXT') this.context.handlers.takeLine(this, message.line)
        else this.#takePacket(message)
      }
      return 'some'
    } catch (error) {
      if (!(error instanceof GearmanCodecError)) throw error
      this.rejected(error.code.toLowerCase() as RejectReason)
      this.#leave()
      this.connection.end()
      return 'none'
    }
  }

  #takePacket({ magic, name, args }: Packet): void {
    if (magic === 'REQ') this.context.handlers.packets[name](this, args)
    else this.sendError('WRONG_MAGIC')
  }
}
