import type { Server, Socket } from 'node:net'
import type { RoundRobin, WorkSource } from '../net/round-robin.ts'

/** Requests that a client may send in advance before it has to take turns. */
const headsAtOnce = 8
const endOfHead = Buffer.from('\r\n\r\n')

type Parse = (chunk: Buffer) => void

/** Puts `accept` before all that the server does with a connection, which `serve` begins. */
export function standBefore<HttpServer extends Server>(
  server: HttpServer,
  accept: (socket: Socket, serve: () => void) => void,
): HttpServer {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  return server.on('connection', (socket: Socket) =>
    accept(socket, () => {
      for (const listener of listeners) listener.call(server, socket)
    }),
  )
}

/** Lets connections of an HTTP server that send many requests in advance take turns with others. */
export function withTurns<HttpServer extends Server>(
  server: HttpServer,
  turns: RoundRobin,
): HttpServer {
  return standBefore(server, (socket, serve) => {
    serve()
    const parsers = socket.listeners('data') as Parse[]
    socket.removeAllListeners('data')
    new RequestTurns(socket, turns, (chunk) => {
      for (const parse of parsers) parse.call(socket, chunk)
    })
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
  /** Bytes that wait for their turn. */
  #waiting: Buffer = Buffer.alloc(0)

  constructor(socket: ServedSocket, turns: RoundRobin, parse: Parse) {
    this.#socket = socket
    this.#turns = turns
    this.#parse = parse
    socket.on('data', (chunk: Buffer) => this.#data(chunk))
    socket.on('resume', () => this.#resumed())
    socket.on('close', () => turns.remove(this))
  }

  /** One request, which costs about as much as a share of those of other doors. */
  work(): boolean {
    const goesOn = this.#pass(this.#waiting, 1)
    if (this.#waiting.length === 0 && this.#socket._paused !== true) this.#socket.resume()
    return goesOn
  }

  #data(chunk: Buffer): void {
    if (this.#waiting.length > 0 || this.#socket._paused === true) {
      this.#waiting = Buffer.concat([this.#waiting, chunk])
      this.#socket.pause()
    } else if (this.#pass(chunk, headsAtOnce)) this.#turns.add(this)
    else if (this.#waiting.length === 0) this.#turns.otherServed()
  }

  /** The server resumes its socket for each body: not while bytes wait. */
  #resumed(): void {
    if (this.#waiting.length === 0) return
    this.#socket.pause()
    if (this.#socket._paused !== true) this.#turns.add(this)
  }

  /** Passes so many requests on; the rest waits. True if it waits for nothing but its turn. */
  #pass(bytes: Buffer, heads: number): boolean {
    const end = endOfHeads(bytes, heads)
    this.#waiting = bytes.subarray(end)
    this.#parse(end === bytes.length ? bytes : bytes.subarray(0, end))
    if (this.#waiting.length === 0 || this.#socket.destroyed) return false
    this.#socket.pause()
    return this.#socket._paused !== true
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
