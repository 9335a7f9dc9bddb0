import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { inTime } from '../net/clock.ts'
import type { NewJob, StoreError } from '@crossgear/core-scheduler'
import { FunctionNames } from '../gearman/function-names.ts'
import { Handles } from '../gearman/handles.ts'
import { coalescingKey } from '../gearman/translate.ts'
import type { Door } from '../net/door.ts'
import { listenerOptionsOf, type PortOptions } from '../net/door-row.ts'
import { guarded } from '../net/guarded.ts'
import type { ListenAddress } from '../net/listen.ts'
import { Listener } from '../net/listener.ts'
import type { Surplus } from '../net/open-port.ts'
import { RoundRobin } from '../net/round-robin.ts'
import type { ConnectedWorker } from '../net/connected-worker.ts'
import type { Census } from '../net/census.ts'
import { type Breach, endBroken } from './broken-requests.ts'
import { Exchange, type ExchangeParts } from './exchange.ts'
import { withFirstHeads } from './first-head.ts'
import { PendingResponses } from './pending-responses.ts'
import { announcesTooMuch, ByteBudget, type Purse, readBody } from './read-body.ts'
import { readHead, type RequestHead } from './read-head.ts'
import { type Refusal, refuse } from './refusals.ts'
import { withTurns } from './request-turns.ts'

/** Options of the door. Defaults at the end of each line. */
export interface HttpDoorOptions extends PortOptions<HttpRejection> {
  /** Names allowed in Host, next to addresses and localhost. None. */
  readonly hostNames?: readonly string[]
  /** Value for the header `Server`. */
  readonly version: string
  /** Prefix of handles; see {@link Handles}. */
  readonly handlePrefix: string
  /** Largest body of a request, and of an answer, bytes. 64 MiB. */
  readonly maxBodyBytes?: number
  /** Bytes of bodies in progress, over all requests. 512 MiB. */
  readonly maxBufferedBytes?: number
  /** Time in which a client must take some of its answer, ms. 60000. */
  readonly stallMs?: number
  /** Time for the head of a request, ms. 60000. */
  readonly headMs?: number
  /** Time for the whole request, ms. 300000. */
  readonly requestMs?: number
  /** Time that a connection may be idle, ms; longer than proxies keep it. 75000. */
  readonly idleMs?: number
  /** Turns shared with the connections of other doors. Of this door alone. */
  readonly turns?: RoundRobin
}

/** Why a connection or request was rejected. */
export type HttpRejection = Lowercase<Refusal> | Breach | Surplus | 'pipeline' | 'slow'

const mib = 1024 * 1024
/** Memory of a request, besides its body. */
export const requestBytes = 8 * 1024
const noWorkload = Buffer.alloc(0)
/** Time for the last answers to leave, milliseconds. */
const lastAnswersMs = 500

/** The port for jobs submitted with HTTP: `POST /function`. */
export class HttpDoor implements Door {
  readonly name = 'http'
  readonly #options: HttpDoorOptions
  readonly #maxBytes: number
  readonly #budget: ByteBudget
  readonly #names: FunctionNames
  readonly #parts: ExchangeParts
  readonly #listener: Listener
  readonly #exchanges = new Set<Exchange>()
  readonly #pending = new PendingResponses()
  readonly #turns: RoundRobin
  /**
   * Connections limited to one request: if a peer ends lines in LF, others may see another end of
   * it.
   */
  readonly #single = new WeakSet<Socket>()
  #draining = false

  constructor(options: HttpDoorOptions) {
    const { scheduler } = options
    this.#options = options
    this.#maxBytes = options.maxBodyBytes ?? 64 * mib
    this.#turns = options.turns ?? new RoundRobin()
    this.#budget = new ByteBudget(options.maxBufferedBytes ?? 512 * mib)
    this.#names = new FunctionNames(scheduler.registry.names)
    this.#parts = {
      scheduler,
      handles: new Handles(options.handlePrefix, scheduler.registry),
      maxBytes: this.#maxBytes,
      stallMs: options.stallMs ?? 60_000,
      stalled: () => options.rejected?.('slow'),
      refused: (refusal, cause) => this.#count(refusal, undefined, cause),
    }
    this.#listener = new Listener({
      ...listenerOptionsOf(options),
      portFlag: '--http-port',
      server: () => this.#createServer(),
      connected: () => undefined,
    })
  }

  get address(): ListenAddress | undefined {
    return this.#listener.address
  }

  /** Nobody works by HTTP. */
  connectedWorkers(): readonly ConnectedWorker[] {
    return []
  }

  listen(): Promise<ListenAddress> {
    return this.#listener.listen()
  }

  stopAccepting(): void {
    this.#listener.stopAccepting()
  }

  /** Accepts no more connections; open ones are served until their next answer. */
  drain(): void {
    this.#draining = true
    this.stopAccepting()
  }

  census(): Census {
    const none = new Map<string, never>()
    const clients = this.#listener.connections
    return { ...this.#listener.traffic(), clients, byFunction: none, byQueue: none }
  }

  /** Tells waiting clients that the gateway stops. */
  async close(): Promise<void> {
    this.drain()
    for (const exchange of this.#exchanges) exchange.refuse('STOPPING')
    const left = this.#pending
      .all()
      .map((response) => new Promise((resolve) => response.once('close', resolve)))
    await inTime(Promise.all(left), lastAnswersMs, undefined)
    await this.#listener.close()
  }

  #createServer(): Server {
    const { headMs = 60_000, requestMs = 300_000, idleMs = 75_000 } = this.#options
    const server = createServer({
      // Requests in gearmand's manual have none.
      requireHostHeader: false,
      headersTimeout: headMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: headMs / 12,
      keepAliveTimeout: idleMs,
    })
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#run(request, () => this.#take(request, response)),
    )
    // A client that asks first is refused before it sends its body.
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
      this.#run(request, () => this.#take(request, response, () => response.writeContinue())),
    )
    server.on('clientError', (error: Error, socket: Socket) => this.#broken(error, socket))
    return withFirstHeads(withTurns(server, this.#turns), {
      headMs,
      tooSlow: (error, socket) => this.#broken(error, socket),
      hasBareLf: (socket) => this.#single.add(socket),
    })
  }

  #run({ socket }: IncomingMessage, step: () => void): void {
    guarded(socket, step, (error) => this.#options.dropped?.('error', error))
  }

  #broken(error: Error, socket: Socket): void {
    // A complete request is owed its own answer, or has it.
    const isOwed = this.#pending
      .of(socket)
      .some(({ req, headersSent }) => req.complete || headersSent)
    const breach = endBroken(error, socket, isOwed)
    if (breach) this.#options.rejected?.(breach)
  }

  #take(request: IncomingMessage, response: ServerResponse, goOn?: () => void): void {
    response.setHeader('Server', `Gearman/${this.#options.version}`)
    if (this.#draining || this.#single.has(request.socket)) response.shouldKeepAlive = false
    if (request.socket.destroyed) return
    if (this.#single.has(request.socket) && this.#pending.of(request.socket).length > 0) return
    if (!this.#pending.add(request, response)) {
      this.#options.rejected?.('pipeline')
      request.socket.destroy()
      return
    }
    const head = readHead(request, this.#names, this.#options.hostNames ?? [])
    if (typeof head === 'string') {
      this.#refuse(request, response, head)
      return
    }
    const { laneQuota } = this.#options
    if (laneQuota && !laneQuota.admits(head.name.lane, request.socket.remoteAddress ?? '')) {
      this.#refuse(request, response, 'NEW_FUNCTION_LIMIT')
      return
    }
    if (announcesTooMuch(request, this.#maxBytes)) {
      this.#refuse(request, response, 'BODY_TOO_LARGE')
      return
    }
    goOn?.()
    // The body's part is given back once the store has it.
    const [own, purse] = [this.#budget.open(), this.#budget.open()]
    response.once('close', () => {
      own.empty()
      purse.empty()
    })
    if (!own.take(requestBytes)) {
      this.#refuse(request, response, 'BUSY')
      return
    }
    readBody(request, this.#maxBytes, purse, (body) => {
      this.#run(request, () => {
        if (typeof body === 'string') this.#refuse(request, response, body)
        else this.#submit(head, body, response, purse)
      })
    })
  }

  #submit(head: RequestHead, body: Buffer, response: ServerResponse, purse: Purse): void {
    const { name, unique, background, level } = head
    const input = head.hasWorkload ? body : noWorkload
    const key = coalescingKey(unique, input)
    const job: NewJob = {
      input,
      door: 'http',
      level,
      foreground: !background,
      ...(key === undefined ? {} : { unique: key }),
    }
    const exchange = new Exchange(this.#parts, name.lane, job, response, purse)
    this.#exchanges.add(exchange)
    response.once('close', () => this.#exchanges.delete(exchange))
    this.#parts.scheduler.submit(name.lane, exchange)
  }

  /** Discards the rest of the body, so that the client reads the answer. */
  #refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
    this.#count(refusal, request.socket.remoteAddress)
    // A client that asked first may now send its body or its next request.
    if (request.headers.expect !== undefined) response.shouldKeepAlive = false
    refuse(response, refusal, this.#parts)
    request.resume()
  }

  #count(refusal: Refusal, address?: string, cause?: StoreError): void {
    this.#options.rejected?.(refusal.toLowerCase() as Lowercase<Refusal>, address, cause)
  }
}
