import type { Socket } from 'node:net'
import type { Door, LiveDoor } from '../net/door.ts'
import { Limiter } from '../net/limiter.ts'
import { listenerOptionsOf } from '../net/door-row.ts'
import type { ListenAddress } from '../net/listen.ts'
import { Listener } from '../net/listener.ts'
import { AdminAccess } from '../net/networks.ts'
import { Connection } from '../net/connection.ts'
import type { ConnectedWorker } from '../net/connected-worker.ts'
import { type Census, HandCounts } from '../net/census.ts'
import type { GearmanDoorOptions } from './door-options.ts'
import { handlers } from './handlers/index.ts'
import { Handles } from './handles.ts'
import { type DoorContext, Session } from './session.ts'

/** Lists of the whole store made at a time: one may have a hundred thousand lines. */
const listsAtOnce = 2

export interface GearmanConnection {
  readonly address: string
  /** The value of SET_CLIENT_ID. */
  readonly clientId: string
  /** None: a client. */
  readonly functions: readonly string[]
}

/** The port for Gearman clients, workers and administrators. */
export class GearmanDoor implements Door {
  readonly name = 'gearman'
  readonly #listener: Listener
  readonly #context: DoorContext
  readonly #sessions = new Set<Session>()
  #lastNumber = 0

  /** Throws a TypeError for an invalid `adminFrom`. */
  constructor(options: GearmanDoorOptions) {
    const { rejected } = options
    this.#context = {
      options,
      handlers,
      handles: new Handles(options.handlePrefix, options.scheduler.registry),
      adminAccess: new AdminAccess(options.adminFrom),
      sessions: this.#sessions,
      listing: new Limiter(listsAtOnce),
    }
    this.#listener = new Listener({
      ...listenerOptionsOf(options),
      clock: options.connectionLimits?.clock,
      portFlag: '--gearman-port',
      allowHalfOpen: true,
      connected: (socket) => this.#connected(socket),
      handshakeFailed: (fault, address) => rejected?.(fault, address),
    })
  }

  get address(): ListenAddress | undefined {
    return this.#listener.address
  }

  listen(): Promise<ListenAddress> {
    return this.#listener.listen()
  }

  configure({ tls }: LiveDoor): void {
    if (tls) this.#listener.renewTls(tls)
  }

  stopAccepting(): void {
    this.#listener.stopAccepting()
  }

  /** Connected clients and workers are still served. */
  drain(): void {
    this.stopAccepting()
  }

  census(): Census {
    const hands = new HandCounts()
    let clients = 0
    for (const { worker } of this.#sessions) {
      if (worker.functions.length === 0) clients += 1
      else worker.countInto(hands)
    }
    return {
      ...this.#listener.traffic(),
      clients,
      byFunction: hands.counts,
      byQueue: new Map<string, never>(),
    }
  }

  *connectedWorkers(): Generator<ConnectedWorker> {
    for (const { connection, number, clientId, worker } of this.#sessions) {
      const { functions, jobs } = worker
      if (functions.length === 0 && jobs.length === 0) continue
      yield {
        name: `g${number}`,
        door: this.name,
        calledItself: clientId,
        address: connection.peer,
        labels: [],
        state: 'running',
        functions,
        queues: [],
        connections: 1,
        rssKb: 0,
        jobs,
      }
    }
  }

  /** The connections that stand, by what they say of themselves. */
  connections(): readonly GearmanConnection[] {
    return Array.from(this.#sessions, ({ connection, clientId, worker }) => {
      return { address: connection.address, clientId, functions: worker.functions }
    })
  }

  close(): Promise<void> {
    return this.#listener.close()
  }

  #connected(socket: Socket): void {
    const { connectionLimits, dropped, heldBack } = this.#context.options
    this.#lastNumber += 1
    const number = this.#lastNumber
    const handlerOf = (connection: Connection): Session => {
      const session = new Session(connection, number, this.#context, () =>
        this.#sessions.delete(session),
      )
      this.#sessions.add(session)
      return session
    }
    new Connection(socket, handlerOf, connectionLimits, dropped, heldBack)
  }
}
