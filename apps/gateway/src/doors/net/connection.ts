import type { Socket } from 'node:net'
import type { Clock } from '@crossgear/core-scheduler'
import { systemClock } from './clock.ts'
import { systemCode } from '../../errors.ts'
import { boundsOf, type Bounds, type ConnectionLimits } from './connection-limits.ts'
import type { BufferGarbage } from './buffer-garbage.ts'
import { endFailed, guarded } from './guarded.ts'
import type { InputBudget, Holder } from './input-budget.ts'
import { type ReplySlot, ReplyQueue } from './reply-slots.ts'
import { bytesPerTurn, requestsPerTurn, RoundRobin, type WorkSource } from './round-robin.ts'

/** The door's side of a connection. */
export interface ConnectionHandler {
  /** Takes bytes, to be worked on. May throw, as `work` may: the connection then ends at once. */
  data(chunk: Buffer): void
  /** Does at most so many requests of the bytes. */
  work(max: number): WorkLeft
  /** The peer has closed its half. The connection ends once all that came before is answered. */
  ended?(): void
  /** The connection ended; called once. */
  closed(): void
}

/** `some`: there are more requests. `held`: they wait until {@link Connection.goOn}. */
export type WorkLeft = 'none' | 'some' | 'held'

/** Why the gateway itself ended a connection. */
export type DropReason = 'slow' | 'error' | 'buffer'

/** The side that ended a connection first. `network`: neither side, as far as is known. */
type EndedBy = 'peer' | 'gateway' | 'network'

/** Faults of a socket by which its peer says that it is gone. */
const resets: readonly unknown[] = ['ECONNRESET', 'EPIPE']

/** Replies up to this size are joined into one write. */
const joinBytes = 64 * 1024
/** Time that a peer may keep its half of an ended connection open, milliseconds. */
const lingerMs = 5_000

/** Memory of a request that waits, besides its bytes. */
const requestBytes = 512
/** Memory for names that each peer may have, however much the others hold. */
const ownBytes = 16 * 1024

/**
 * One connection: ready replies leave together in one write and in the order of the requests, a peer that does not read is
 * not read from, and one that sends many requests takes turns with others.
 */
export class Connection implements Holder, WorkSource {
  readonly socket: Socket
  readonly #handler: ConnectionHandler
  readonly #limits: Bounds
  readonly #inputBudget: InputBudget | undefined
  readonly #turns: RoundRobin
  readonly #garbage: BufferGarbage | undefined
  readonly #clock: Clock
  readonly #dropped: (reason: DropReason, error?: unknown) => void
  readonly #heldBack: () => void
  readonly #failed = (error: unknown): void => this.#dropped('error', error)
  #ready: Uint8Array[] = []
  #readyBytes = 0
  #flushing = false
  readonly #slots = new ReplyQueue(() => this.#advance())
  /** Bytes that came and belong to no slot yet. */
  #arrivedBytes = 0
  #keptBytes = 0
  /** Bytes of waiting requests reported to the budget. */
  #waitingCost = 0
  /** Memory of the names that the peer has given. */
  #namesBytes = 0
  /** Bytes that came, and that other peers have yet to read. */
  #unreadBytes = 0
  /** Called once the peer has read what it was sent. */
  #whenRead: (() => void)[] = []
  #held = false
  /** False while the half-arrived packet waits for others of the same address. */
  #mayRead = true
  /** Requests that came and are not done. */
  #left: WorkLeft = 'none'
  /** More bytes came meanwhile, so it is not read from. */
  #isPaused = false
  #peerEnded = false
  #endedBy: EndedBy | undefined
  #hasClosed = false
  #ending = false
  #gone = false
  /** Ends the watch on a peer that takes nothing. */
  #unwatch = (): void => undefined
  readonly #flushes = (): void => this.#flush()

  constructor(
    socket: Socket,
    handlerOf: (connection: Connection) => ConnectionHandler,
    limits: ConnectionLimits = {},
    dropped: (reason: DropReason, error?: unknown) => void = () => undefined,
    heldBack: () => void = () => undefined,
  ) {
    this.socket = socket
    this.#limits = boundsOf(limits)
    this.#inputBudget = limits.inputBudget
    this.#garbage = limits.garbage
    this.#clock = limits.clock ?? systemClock
    this.#turns = limits.turns ?? new RoundRobin()
    this.#dropped = dropped
    this.#heldBack = heldBack
    this.#handler = handlerOf(this)
    socket.on('data', (chunk) => this.#data(chunk))
    socket.on('end', () => this.#peerHasEnded())
    socket.on('drain', () => this.#release())
    socket.on('error', (error) => {
      this.#endedBy ??= resets.includes(systemCode(error)) ? 'peer' : 'network'
      socket.destroy()
    })
    socket.on('close', () => {
      this.#hasClosed = true
      if (this.#left === 'none') this.#closed()
      else this.run(() => this.#handler.ended?.())
    })
  }

  /** True once nothing can be sent any more. */
  get gone(): boolean {
    return this.#gone || this.#ending
  }

  /** True once the peer has closed it, or its process has ended: not if the gateway did so first. */
  get hasPeerLeft(): boolean {
    return this.#endedBy === 'peer'
  }

  /** True once the peer hears nothing any more, though requests that it sent before may still be worked on. */
  get hasClosed(): boolean {
    return this.#hasClosed
  }

  get address(): string {
    return this.socket.remoteAddress ?? '-'
  }

  /** The peer's address with its port, by which its process is found. */
  get peer(): string {
    const { remoteFamily, remotePort } = this.socket
    const address = remoteFamily === 'IPv6' ? `[${this.address}]` : this.address
    return remotePort === undefined ? address : `${address}:${remotePort}`
  }

  /** True while the peer has much to read. */
  get isBehind(): boolean {
    return this.#unsentBytes > this.#limits.holdBackBytes
  }

  /** Calls back once it has read that, or is gone. */
  whenRead(task: () => void): void {
    if (this.#gone || !this.isBehind) task()
    else this.#whenRead.push(task)
  }

  /** Counts bytes of this peer that another one has yet to read; above a bound no more is read. Returns what to call then. */
  countUnread(bytes: number): () => void {
    this.#unreadBytes += bytes
    if (this.#exceeds(1)) this.#hold()
    return () => {
      this.#unreadBytes -= bytes
      this.#release()
    }
  }

  /** Sends bytes after all slots reserved before; returns their own slot if they wait. */
  send(bytes: Uint8Array): ReplySlot | undefined {
    if (this.#gone) return undefined
    if (this.#slots.isEmpty) {
      this.#write(bytes)
      return undefined
    }
    const slot = this.reserve()
    slot.fill(bytes)
    if (this.#slots.filledBytes > this.#limits.dropBytes) this.destroy('slow')
    return slot
  }

  /** Sends bytes that needed no store call: see {@link ReplySlot.fillAtHand}. */
  sendAtHand(bytes: Uint8Array): void {
    if (this.#slots.isEmpty) this.send(bytes)
    else if (!this.#gone) this.reserve().fillAtHand(bytes)
  }

  /** Sends bytes at once, before replies that are still owed. */
  sendNow(bytes: Uint8Array): void {
    this.#write(bytes)
  }

  /** Reserves the slot of a reply that needs the store. `moreBytes`: memory of the request besides its bytes. */
  reserve(moreBytes = 0): ReplySlot {
    return this.#slots.add(this.#arrived(moreBytes))
  }

  /** True if there is memory for more names, for a while or as long as the peer is connected. */
  hasRoomFor(bytes: number): boolean {
    if (this.#namesBytes + bytes <= ownBytes) return true
    return this.#inputBudget?.hasRoomFor(bytes) ?? true
  }

  /** Counts memory of names that are kept while the peer is connected; negative once they are forgotten. */
  keepsNames(bytes: number): void {
    if (this.#gone) return
    this.#namesBytes += bytes
    this.#inputBudget?.wait(bytes)
  }

  /**
   * Reserves the place of a request that usually has no reply. `mayBePassed`: a reply at hand does not wait
   * for it.
   */
  reserveSilent(mayBePassed: boolean): ReplySlot {
    return this.#slots.add(this.#arrived(), mayBePassed)
  }

  /** Sets the bytes kept of a half-arrived message. */
  keeps(bytes: number): void {
    this.#keptBytes = bytes
    if (!this.#gone) this.#inputBudget?.keep(this, bytes)
  }

  /** Long half packets of an address are read one after the other. */
  setMayRead(mayRead: boolean): void {
    this.#mayRead = mayRead
    if (mayRead) this.#release()
    else this.#hold()
  }

  /** Drops its half packet; later bytes could not be read, so it ends. */
  evict(): void {
    this.destroy('buffer')
  }

  /** Ends the connection after everything sent or reserved has left. Nothing more is read. */
  end(): void {
    if (this.gone) return
    this.#endedBy ??= 'gateway'
    this.#ending = true
    this.socket.pause()
    if (this.#slots.isEmpty) this.#flush()
  }

  /** Ends the connection now. */
  destroy(reason?: DropReason): void {
    if (reason && !this.#gone) this.#dropped(reason)
    this.#turns.remove(this)
    this.#left = 'none'
    this.#endedBy ??= 'gateway'
    this.#ending = true
    this.socket.destroy()
  }

  /** Runs a step of the handler; one that throws ends the connection at once. */
  run(step: () => void): void {
    guarded(this.socket, step, this.#failed)
  }

  /** A step has thrown: ends the connection at once. */
  fail(error: unknown): void {
    endFailed(this.socket, error, this.#failed)
  }

  #data(chunk: Buffer): void {
    if (this.gone) return
    this.#arrivedBytes += chunk.length
    this.#garbage?.made(chunk.length)
    this.run(() => this.#handler.data(chunk))
    if (this.#left === 'none') {
      if (this.#do(requestsPerTurn) !== 'none') return
      if (this.#keptBytes + this.#slots.cost <= bytesPerTurn) this.#turns.otherServed()
      else this.#waitForTurn()
    } else this.#pause()
  }

  /** Much of what it sent is not done with: more is read once its turn has come. */
  #waitForTurn(): void {
    if (this.gone) return
    this.#left = 'some'
    this.#turns.add(this)
    this.#pause()
  }

  #pause(): void {
    this.#isPaused = true
    this.socket.pause()
  }

  /** Handles input, as the turn of the connection has come. */
  work(max: number): boolean {
    return this.#do(max) === 'some'
  }

  /** Held requests go on, in its turn. */
  goOn(): void {
    if (this.#left !== 'held') return
    this.#left = 'some'
    this.#turns.add(this)
  }

  #do(max: number): WorkLeft {
    const before = this.#left
    this.#left = this.gone ? 'none' : this.#workOf(max)
    if (this.#left === 'some' && before === 'none') this.#turns.add(this)
    if (this.#exceeds(1)) this.#hold()
    const left = this.#left
    if (left === 'none') this.#allDone()
    return left
  }

  #workOf(max: number): WorkLeft {
    try {
      return this.#handler.work(max)
    } catch (error) {
      this.fail(error)
      return 'none'
    }
  }

  #allDone(): void {
    if (this.#slots.isEmpty && this.#keptBytes === 0) this.#arrivedBytes = 0
    if (this.#isPaused) {
      this.#isPaused = false
      if (!this.#held && !this.gone) this.socket.resume()
    }
    if (this.#hasClosed) this.#closed()
    else if (this.#peerEnded) this.end()
  }

  #peerHasEnded(): void {
    this.#endedBy ??= 'peer'
    this.#peerEnded = true
    this.run(() => this.#handler.ended?.())
    if (this.#left === 'none') this.end()
  }

  /** Memory of a request, with the bytes that came with it. */
  #arrived(moreBytes = 0): number {
    const cost = this.#arrivedBytes + requestBytes + moreBytes
    this.#arrivedBytes = 0
    this.#inputBudget?.wait(cost)
    this.#waitingCost += cost
    return cost
  }

  #advance(): void {
    if (this.#gone) return
    for (let bytes = this.#slots.next(); bytes !== undefined; bytes = this.#slots.next()) {
      this.#write(bytes)
    }
    const { cost } = this.#slots
    if (cost < this.#waitingCost) this.#inputBudget?.wait(cost - this.#waitingCost)
    this.#waitingCost = cost
    if (this.#slots.isEmpty && this.#ending) this.#flushSoon()
    this.#release()
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#gone) return
    this.#ready.push(bytes)
    this.#readyBytes += bytes.length
    this.#flushSoon()
  }

  #flushSoon(): void {
    if (this.#flushing) return
    this.#flushing = true
    this.#clock.endOfTurn(this.#flushes)
  }

  #flush(): void {
    this.#flushing = false
    const { socket } = this
    if (this.#gone || socket.destroyed) return
    const ready = this.#ready
    const bytes = this.#readyBytes
    this.#garbage?.made(bytes)
    this.#ready = []
    this.#readyBytes = 0
    if (ready.length === 1 && ready[0]) socket.write(ready[0])
    else if (ready.length > 1 && bytes <= joinBytes) socket.write(Buffer.concat(ready, bytes))
    else if (ready.length > 1) {
      socket.cork()
      for (const part of ready) socket.write(part)
      socket.uncork()
    }
    if (this.#ending && this.#slots.isEmpty) this.#finish()
    else if (socket.writableLength > this.#limits.dropBytes) this.destroy('slow')
    else if (this.#exceeds(1)) this.#hold()
    else this.#release()
  }

  /** Keeps reading, and discards: only so is the peer's own end noticed. */
  #finish(): void {
    const { socket } = this
    if (socket.writableEnded) return
    this.#held = true
    this.#unwatch()
    this.#watchStall()
    socket.end(() => {
      this.#unwatch()
      this.#unwatch = this.#clock.after(lingerMs, () => socket.destroy())
    })
    socket.resume()
  }

  /** Bytes that wait for the peer. */
  get #unsentBytes(): number {
    return this.socket.writableLength + this.#readyBytes + this.#slots.filledBytes
  }

  /** True above this share of a bound. */
  #exceeds(share: number): boolean {
    const { holdBackBytes, unanswered, unansweredBytes, unreadBytes } = this.#limits
    const slots = this.#slots
    return (
      !this.#mayRead ||
      this.#unsentBytes > holdBackBytes * share ||
      this.#unreadBytes > unreadBytes * share ||
      slots.size >= unanswered * share ||
      slots.cost > (this.#inputBudget?.isFull ? 0 : unansweredBytes * share)
    )
  }

  #hold(): void {
    if (this.#held || this.gone) return
    this.#held = true
    this.#heldBack()
    this.socket.pause()
    this.#watchStall()
  }

  /** Drops a peer that takes nothing: its buffer has not shrunk. */
  #watchStall(): void {
    const before = this.socket.bytesWritten - this.socket.writableLength
    this.#unwatch = this.#clock.after(this.#limits.stallMs, () => {
      const { bytesWritten, writableLength } = this.socket
      if (writableLength > 0 && bytesWritten - writableLength === before) this.destroy('slow')
      else if (this.#held) this.#watchStall()
    })
  }

  #allRead(): void {
    for (const task of this.#whenRead.splice(0)) task()
  }

  #release(): void {
    if (this.#whenRead.length > 0 && !this.isBehind) this.#allRead()
    if (!this.#held || this.#ending) return
    if (this.#exceeds(0.5)) return
    this.#held = false
    this.#unwatch()
    if (!this.#isPaused) this.socket.resume()
  }

  #closed(): void {
    if (this.#gone) return
    this.#gone = true
    this.#inputBudget?.keep(this, 0)
    this.#inputBudget?.wait(-this.#waitingCost - this.#namesBytes)
    this.#unwatch()
    this.#ready = []
    this.#allRead()
    this.#handler.closed()
  }
}
