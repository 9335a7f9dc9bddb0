import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { RoundRobin, WorkSource } from '../net/round-robin.ts'

/** Bounds of one connection. Defaults at the end of each line. */
export interface RequestBounds {
  /** Requests that a client may send in advance before it has to take turns; 0: each one takes its turn. 8. */
  readonly headsAtOnce?: number
  /** Unanswered requests, at which nothing more is read from the connection. No bound. */
  readonly unanswered?: number
}

const endOfHead = Buffer.from('\r\n\r\n')

type Parse = (chunk: Buffer) => void

/** Puts `accept` before all that the server does with a connection, which `serve` begins. */
export function standBefore<HttpServer extends Server>(
  server: HttpServer,
  accept: (socket: Socket, serve: () => void) => void,
): HttpServer {
  const event = server instanceof TlsServer ? 'secureConnection' : 'connection'
  const listeners = server.listeners(event) as ((socket: Socket) => void)[]
  server.removeAllListeners(event)
  return server.on(event, (socket: Socket) =>
    accept(socket, () => {
      for (const listener of listeners) listener.call(server, socket)
    }),
  )
}

/** Lets connections of an HTTP server that send many requests in advance take turns with others. */
export function withTurns<HttpServer extends Server>(
  server: HttpServer,
  turns: RoundRobin,
  { headsAtOnce = 8, unanswered = Infinity }: RequestBounds = {},
): HttpServer {
  const bySocket = new WeakMap<Socket, RequestTurns>()
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    bySocket.get(socket)?.asked(response)
  })
  return standBefore(server, (socket, serve) => {
    serve()
    const parsers = socket.listeners('data') as Parse[]
    socket.removeAllListeners('data')
    const parse: Parse = (chunk) => {
      for (const parser of parsers) parser.call(socket, chunk)
    }
    bySocket.set(socket, new RequestTurns(socket, turns, parse, { headsAtOnce, unanswered }))
  })
}

/** Node's HTTP server sets it while a client does not read its answers, and takes no bytes then. */
interface ServedSocket extends Socket {
  readonly _paused?: boolean
}

/** The bytes of one connection between its socket and the server's parser. */
class RequestTurns implements WorkSource {
  readonly #socket: ServedSocket
  readonly #turns: RoundRobin
  readonly #parse: Parse
  readonly #bounds: Required<RequestBounds>
  /** Bytes that wait for their turn. */
  #waiting: Buffer = Buffer.alloc(0)
  #unanswered = 0

  constructor(
    socket: ServedSocket,
    turns: RoundRobin,
    parse: Parse,
    bounds: Required<RequestBounds>,
  ) {
    this.#socket = socket
    this.#turns = turns
    this.#parse = parse
    this.#bounds = bounds
    socket.on('data', (chunk: Buffer) => this.#data(chunk))
    socket.on('resume', () => this.#resumed())
    socket.on('close', () => {
      this.#waiting = Buffer.alloc(0)
      turns.remove(this)
    })
  }

  /** A request has come that is to be answered. */
  asked(response: ServerResponse): void {
    this.#unanswered += 1
    response.once('close', () => {
      this.#unanswered -= 1
      if (this.#waiting.length > 0 && this.#isServed()) this.#turns.add(this)
    })
  }

  /** One request, which costs about as much as a share of those of other doors. */
  work(): boolean {
    const goesOn = this.#pass(this.#waiting, 1)
    if (this.#waiting.length === 0 && this.#isServed()) this.#socket.resume()
    return goesOn
  }

  #data(chunk: Buffer): void {
    if (this.#waiting.length > 0 || !this.#isServed()) {
      this.#waiting = Buffer.concat([this.#waiting, chunk])
      this.#socket.pause()
    } else if (this.#pass(chunk, this.#bounds.headsAtOnce)) this.#turns.add(this)
    else if (this.#waiting.length === 0) this.#turns.otherServed()
  }

  /** The server resumes its socket for each body: not while bytes wait. */
  #resumed(): void {
    if (this.#waiting.length === 0) return
    this.#socket.pause()
    if (this.#isServed()) this.#turns.add(this)
  }

  /** True while the client reads its answers and is not owed too many of them. */
  #isServed(): boolean {
    return this.#socket._paused !== true && this.#unanswered < this.#bounds.unanswered
  }

  /** Passes so many requests on; the rest waits. True if it waits for nothing but its turn. */
  #pass(bytes: Buffer, heads: number): boolean {
    const end = endOfHeads(bytes, heads)
    this.#waiting = bytes.subarray(end)
    if (end > 0) this.#parse(end === bytes.length ? bytes : bytes.subarray(0, end))
    if (this.#waiting.length === 0 || this.#socket.destroyed) return false
    this.#socket.pause()
    return this.#isServed()
  }
}

/** The place after so many ends of heads, or the end. What looks like one in a body only makes a piece shorter. */
function endOfHeads(bytes: Buffer, heads: number): number {
  let end = 0
  for (let at = 0; at < heads; at += 1) {
    const next = bytes.indexOf(endOfHead, end)
    if (next < 0) return bytes.length
    end = next + endOfHead.length
  }
  return end
}
