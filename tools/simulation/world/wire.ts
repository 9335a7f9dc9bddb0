import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { Random } from '@crossgear/tools/random'
import { Stream } from './stream.ts'
import type { Actor, Timeline } from './timeline.ts'

/** Longest way of some bytes, milliseconds. */
const maxDelayMs = 3
/** Bytes after which a write says that the buffer is full. */
const highWaterBytes = 16 * 1024

/** The peer's side of a connection. */
export interface Ear {
  data(bytes: Buffer): unknown
  /** The gateway sends nothing more. */
  ended(): void
}

/** A connection between a peer and a gateway, in memory. It splits, delays, half-closes, stops reading and cuts. */
export class Wire {
  readonly #random: Random
  readonly #up: Stream
  readonly #down: Stream
  readonly #server: GatewaySocket
  readonly #ear: Ear
  #isOver = false

  constructor(timeline: Timeline, random: Random, peer: Actor, gateway: Actor, ear: Ear) {
    this.#random = random
    this.#ear = ear
    this.#up = new Stream(timeline, random, gateway, maxDelayMs)
    this.#down = new Stream(timeline, random, peer, maxDelayMs)
    this.#server = new GatewaySocket(this.#up, this.#down, {
      data: (bytes) => this.#isOver || this.#ear.data(bytes),
      ended: () => this.#end(),
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Connects: the gateway accepts the socket. */
  open(accept: (socket: Socket) => void): void {
    this.#up.send(() => accept(this.#server as unknown as Socket))
  }

  /** The bytes arrive in some pieces. */
  send(bytes: Buffer): void {
    let from = 0
    while (from < bytes.length) {
      const rest = bytes.length - from
      const take = this.#random.percent(70) ? rest : this.#random.whole(1, rest)
      const piece = bytes.subarray(from, from + take)
      this.#up.send(() => this.#server.arrive(piece))
      from += take
    }
  }

  /** The peer sends nothing more, and still reads. */
  halfClose(): void {
    this.#up.send(() => this.#server.peerEnds())
  }

  /** The peer is gone; what it sent before arrives, but perhaps its last bytes do not. */
  vanish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#down.cut()
    if (this.#random.percent(30)) this.#up.cut()
    const isReset = this.#random.percent(50)
    this.#up.send(() => this.#server.lose(isReset))
  }

  /** Stops or goes on reading. */
  reads(isReading: boolean): void {
    this.#server.peerReads(isReading)
  }

  /** The gateway's process is gone. */
  gatewayGone(): void {
    this.#up.cut()
    this.#down.send(() => this.#end())
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#ear.ended()
  }
}

/** The gateway's side: as much of node:net's Socket as the doors use. */
class GatewaySocket extends EventEmitter {
  readonly remoteAddress = '127.0.0.1'
  destroyed = false
  writableEnded = false
  writableLength = 0
  bytesWritten = 0
  bytesRead = 0
  readonly #up: Stream
  readonly #down: Stream
  readonly #ear: Ear
  #isPaused = false
  #peerReads = true
  /** Reached the gateway's machine, and is not read. */
  readonly #inbox: (Buffer | 'end')[] = []
  /** Is not taken by the peer. */
  readonly #outbox: Buffer[] = []
  #finished: (() => void) | undefined
  #isSending = false

  constructor(up: Stream, down: Stream, ear: Ear) {
    super()
    this.#up = up
    this.#down = down
    this.#ear = ear
  }

  setKeepAlive(): this {
    return this
  }

  pause(): this {
    this.#isPaused = true
    return this
  }

  resume(): this {
    this.#isPaused = false
    queueMicrotask(() => this.#read())
    return this
  }

  cork(): void {
    // Each write leaves by itself.
  }

  uncork(): void {
    // See above.
  }

  write(bytes: Buffer): boolean {
    if (this.destroyed) return false
    this.bytesWritten += bytes.length
    this.writableLength += bytes.length
    this.#outbox.push(bytes)
    this.#sendOn()
    return this.writableLength < highWaterBytes
  }

  end(finished?: () => void): this {
    if (this.destroyed || this.writableEnded) return this
    this.writableEnded = true
    this.#finished = finished ?? (() => undefined)
    this.#sendOn()
    return this
  }

  destroySoon(): void {
    this.end(() => this.destroy())
  }

  destroy(): this {
    if (this.destroyed) return this
    this.destroyed = true
    this.#down.send(() => this.#ear.ended())
    queueMicrotask(() => this.emit('close'))
    return this
  }

  arrive(bytes: Buffer): void {
    this.#inbox.push(bytes)
    this.#read()
  }

  peerEnds(): void {
    this.#inbox.push('end')
    this.#read()
  }

  /** The connection breaks. */
  lose(isReset: boolean): void {
    if (this.destroyed || this.listenerCount('error') === 0) return
    if (isReset) this.emit('error', new Error('read ECONNRESET'))
    else if (!this.#isPaused) this.emit('end')
    this.destroy()
  }

  peerReads(isReading: boolean): void {
    this.#peerReads = isReading
    this.#sendOn()
  }

  #read(): void {
    while (!this.#isPaused && !this.destroyed) {
      const next = this.#inbox.shift()
      if (next === undefined) return
      if (next === 'end') this.emit('end')
      else {
        this.bytesRead += next.length
        this.emit('data', next)
      }
    }
  }

  /** One write after the other is taken by the peer. */
  #sendOn(): void {
    if (this.#isSending || !this.#peerReads || this.destroyed) return
    const next = this.#outbox.shift()
    if (next) {
      this.#isSending = true
      this.#down.send(() => {
        this.#isSending = false
        this.#taken(next)
      })
    } else if (this.#finished) {
      const finished = this.#finished
      this.#finished = undefined
      this.#down.send(() => this.#ear.ended())
      finished()
    }
  }

  #taken(bytes: Buffer): void {
    if (this.destroyed && !this.writableEnded) return
    const wasFull = this.writableLength >= highWaterBytes
    this.writableLength -= bytes.length
    this.#ear.data(bytes)
    if (wasFull && this.writableLength === 0) this.#up.send(() => this.emit('drain'))
    this.#sendOn()
  }
}
