import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '../errors.ts'
import type { FaktoryNews } from '../faktory/context.ts'
import { AddressCounts } from '../net/addresses.ts'
import type {
  HandedConnection,
  OrderName,
  Orders,
  Prepared,
  Task,
  ToChild,
  ToParent,
} from './messages.ts'

/** Works from source and from the build. */
const program = fileURLToPath(new URL(`../process${extname(import.meta.url)}`, import.meta.url))
const answersWithinMs = 4000

/** Messages of a process to its parent. */
export interface ProcessEvents {
  readonly shutdown: (graceful: boolean) => void
  readonly news: (news: FaktoryNews, from: GatewayProcess) => void
  /** It can take another connection, or takes no more. */
  readonly changed: () => void
}

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** A process as its parent sees it. */
export class GatewayProcess {
  readonly number: number
  readonly startedAt = performance.now()
  /** Its doors. Rejects with a StartError if it cannot start. */
  readonly prepared: Promise<Prepared>
  /** Settles with the way it ended. */
  readonly exited: Promise<string>
  /** True from its start until its end. */
  serves = false
  readonly #child: ChildProcess
  readonly #events: ProcessEvents
  readonly #connections = new Map<number, number>()
  /** By port and address. */
  readonly #addresses = new AddressCounts()
  readonly #shut = new Set<number>()
  /** Connections not sent yet, and what to do if they never are. */
  readonly #unsent = new Map<Socket, () => void>()
  readonly #pending = new Map<number, Pending>()
  #lastOrder = 0
  /** Undefined before its first heartbeat: loading may take long. */
  #silentLooks: number | undefined

  constructor(number: number, events: ProcessEvents) {
    this.number = number
    this.#events = events
    this.#child = fork(program, [], { serialization: 'advanced' })
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(error.message))
      this.#child.once('exit', (code, signal) => {
        resolve(signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`)
      })
    })
    this.prepared = new Promise((resolve, reject) => {
      this.#child.on('message', (message: ToParent) => {
        if (message.what === 'prepared') {
          this.serves = true
          resolve(message)
        } else if (message.what === 'failed') {
          reject(new StartError(message.message, message.exitCode))
        } else this.#onMessage(message)
      })
      void this.exited.then((how) => {
        this.#ended(how)
        reject(new StartError(`Process ${number} ended while it started (${how}).`, 1))
      })
    })
    this.prepared.catch(() => undefined)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  start(task: Task): void {
    this.#send({ what: 'start', task })
  }

  /** Open connections of a port. */
  connections(port: number): number {
    return this.#connections.get(port) ?? 0
  }

  /** Connections of one address. */
  connectionsOf(port: number, address: string): number {
    return this.#addresses.of(keyOf(port, address))
  }

  /** Connections that wait to be sent, one after the other. */
  get unsent(): number {
    return this.#unsent.size
  }

  takes(port: number): boolean {
    return this.serves && !this.#shut.has(port)
  }

  /** Hands a connection over; `undelivered` is called if the process ends before it was sent. */
  hand(connection: HandedConnection, socket: Socket, undelivered: () => void): void {
    if (!connection.surplus) this.#count(connection)
    this.#unsent.set(socket, undelivered)
    const message: ToChild = { what: 'connection', ...connection }
    this.#child.send(message, socket, { keepOpen: false }, (error) => {
      if (!this.#unsent.delete(socket)) return
      if (!error) {
        this.#events.changed()
        return
      }
      this.serves = false
      if (!connection.surplus) this.#uncount(connection)
      undelivered()
    })
  }

  notify(news: FaktoryNews): void {
    if (this.serves) this.#send({ what: 'news', news })
  }

  /**
   * Sends a request. Rejects if the process ends first, or takes longer than this many
   * milliseconds; 0: no limit.
   */
  ask<Name extends OrderName>(
    withinMs: number | undefined,
    name: Name,
    ...args: Parameters<Orders[Name]>
  ): Promise<Awaited<ReturnType<Orders[Name]>>> {
    this.#lastOrder += 1
    const id = this.#lastOrder
    const limitMs = withinMs ?? answersWithinMs
    return new Promise((resolve, reject) => {
      const fail = (how: string): void => {
        this.#pending.delete(id)
        reject(new Error(`process ${this.number} ${how}`))
      }
      if (!this.#child.connected) {
        fail('has ended')
        return
      }
      const tooLate = () => fail(`gave no answer within ${limitMs} ms`)
      const timer = limitMs === 0 ? undefined : setTimeout(tooLate, limitMs)
      this.#pending.set(id, {
        resolve: (value) => {
          clearTimeout(timer)
          resolve(value as Awaited<ReturnType<Orders[Name]>>)
        },
        reject: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      })
      this.#send({ what: 'order', id, name, args })
    })
  }

  /** Counts and returns looks since its last heartbeat. */
  look(): number {
    if (this.#silentLooks === undefined) return 0
    this.#silentLooks += 1
    return this.#silentLooks
  }

  /** Closes its connections and ends. */
  close(): void {
    this.serves = false
    this.#send({ what: 'close' })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #send(message: ToChild): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  #onMessage(message: ToParent): void {
    if (message.what === 'alive') this.#silentLooks = 0
    else if (message.what === 'closed') this.#uncount(message)
    else if (message.what === 'shut') {
      this.#shut.add(message.port)
      this.#events.changed()
    } else if (message.what === 'news') this.#events.news(message.news, this)
    else if (message.what === 'shutdown') this.#events.shutdown(message.graceful)
    else if (message.what === 'answer') this.#settle(message.id)?.resolve(message.value)
    else if (message.what === 'refusal') {
      this.#settle(message.id)?.reject(new Error(message.message))
    }
  }

  #count({ port, address }: HandedConnection): void {
    this.#connections.set(port, this.connections(port) + 1)
    this.#addresses.add(keyOf(port, address))
  }

  #uncount({ port, address }: Pick<HandedConnection, 'port' | 'address'>): void {
    this.#connections.set(port, this.connections(port) - 1)
    this.#addresses.remove(keyOf(port, address))
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }

  #ended(how: string): void {
    this.serves = false
    this.#connections.clear()
    this.#addresses.clear()
    for (const { reject } of this.#pending.values()) {
      reject(new Error(`process ${this.number} has ended (${how})`))
    }
    this.#pending.clear()
    const unsent = [...this.#unsent.values()]
    this.#unsent.clear()
    for (const undelivered of unsent) undelivered()
  }
}

function keyOf(port: number, address: string): string {
  return `${port} ${address}`
}
