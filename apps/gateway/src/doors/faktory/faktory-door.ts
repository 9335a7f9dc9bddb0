import { randomBytes } from 'node:crypto'
import type { Clock, Scheduler } from '@crossgear/core-scheduler'
import { error, type PayloadRule } from '@crossgear/fwp-codec'
import { isLoopback } from '../net/addresses.ts'
import { type OnAct, unnoted } from '../net/act.ts'
import type { Door, LiveDoor } from '../net/door.ts'
import { listenerOptionsOf, type PortOptions } from '../net/door-row.ts'
import type { ListenAddress } from '../net/listen.ts'
import type { Surplus } from '../net/open-port.ts'
import { Listener } from '../net/listener.ts'
import { Connection } from '../net/connection.ts'
import { RoundRobin } from '../net/round-robin.ts'
import { WrongPasswords } from '../net/wrong-passwords.ts'
import type { ConnectedWorker } from '../net/connected-worker.ts'
import type { Census } from '../net/census.ts'
import { type DoorState, type FaktoryContext, type Rejection } from './context.ts'
import { handlers } from './handlers/index.ts'
import { Handshake } from './handshake.ts'
import { Info } from './info.ts'
import { OpenLanes, Subscriptions } from './lanes.ts'
import { Session } from './session.ts'
import { type GoingAway, Workers } from './workers.ts'

/** The end of a refusal; the port's own limit is named by its number, as at the Faktory server. */
const refusalWords: Readonly<Record<Surplus, string | undefined>> = {
  connections: undefined,
  address_connections: ' from this address',
  file_descriptors: ': no more files may be opened',
}

/** Options of the door. Defaults at the end of each line. */
export interface FaktoryDoorOptions extends Omit<PortOptions<Rejection>, 'maxConnections'> {
  readonly clock: Clock
  /** Most connections. 2000. */
  readonly maxConnections?: number
  /** The value of INFO's `crossgear_version`. */
  readonly version: string
  /** Password that clients must prove to know. None. */
  readonly password?: string
  /** Wrong passwords allowed per address and minute; 0: any number. 10. */
  readonly passwordTries?: number
  /** Longest line after HELLO. 64 MiB. */
  readonly maxLineBytes?: number
  /** Translation of a function's payload. `auto` for all. */
  readonly payloadRuleOf?: (fn: string) => PayloadRule
  /** Time for a client to send HELLO, milliseconds. 2000. */
  readonly helloWithinMs?: number
  /** Time that FETCH waits for a job, milliseconds. 2000. */
  readonly fetchBlocksMs?: number
  /** A worker without a BEAT for this long loses its connections, milliseconds. 60000. */
  readonly deadAfterMs?: number
  /** A worker whose connections have all been gone for that time gives jobs of Faktory producers back. False. */
  readonly givesBack?: boolean
  /** Interval of checks for such workers, milliseconds. 15000. */
  readonly reapEveryMs?: number
  /** Makes the id of a batch. 12 random bytes. */
  readonly newId?: () => string
  /** Addresses that may FLUSH. Loopback. */
  readonly mayFlush?: (address: string) => boolean
  /** A worker with jobs is going away. */
  readonly goingAway?: (worker: GoingAway) => void
  /** Notes acts of operators. Nothing. */
  readonly acted?: OnAct
}

/** The Faktory Work Protocol on a port. */
export class FaktoryDoor implements Door {
  readonly name = 'faktory'
  readonly workers: Workers
  readonly #listener: Listener
  readonly #wrongPasswords: WrongPasswords
  readonly #handshake: Handshake
  readonly #state: DoorState = { commands: 0, draining: false }
  readonly #scheduler: Scheduler
  readonly #lanes: OpenLanes
  readonly #info: Info
  readonly #unsubscribe: (() => void)[] = []

  constructor(options: FaktoryDoorOptions) {
    const { scheduler, clock } = options
    const { maxConnections = 2_000 } = options
    const rejected: FaktoryContext['rejected'] = options.rejected ?? (() => undefined)
    const { goingAway = () => undefined } = options
    const openedMs = clock.nowMs()
    const turns = options.connectionLimits?.turns ?? new RoundRobin({ clock })
    this.#scheduler = scheduler
    const { laneQuota } = options
    this.#lanes = new OpenLanes(scheduler, (lane, address) => {
      const isAdmitted = laneQuota?.admits(lane, address) ?? true
      if (!isAdmitted) rejected('new_function_limit', address)
      return isAdmitted
    })
    this.workers = new Workers({
      scheduler,
      clock,
      deadAfterMs: options.deadAfterMs ?? 60_000,
      givesBack: options.givesBack ?? false,
      reapEveryMs: options.reapEveryMs ?? 15_000,
      goingAway,
    })
    this.#wrongPasswords = new WrongPasswords(options.passwordTries ?? 10, clock)
    this.#info = new Info({
      scheduler,
      version: options.version,
      uptimeMs: () => clock.nowMs() - openedMs,
      connections: () => this.#listener.connections,
      commands: () => this.#state.commands,
      workers: () => this.workers.size,
      reapedWorkers: () => this.workers.reaped,
      memoryBytes: () => process.memoryUsage.rss(),
    })
    this.#handshake = new Handshake(options.password, clock)
    const context: FaktoryContext = {
      scheduler,
      clock,
      rejected,
      goingAway,
      acted: options.acted ?? unnoted,
      handshake: this.#handshake,
      wrongPasswords: this.#wrongPasswords,
      workers: this.workers,
      subscriptions: new Subscriptions(scheduler),
      lanes: this.#lanes,
      info: this.#info,
      state: this.#state,
      turns,
      payloadRuleOf: options.payloadRuleOf ?? (() => 'auto'),
      newId: options.newId ?? (() => `b-${randomBytes(12).toString('base64url')}`),
      mayFlush: options.mayFlush ?? isLoopback,
      maxLineBytes: options.maxLineBytes ?? 64 * 1024 * 1024,
      helloWithinMs: options.helloWithinMs ?? 2_000,
      fetchBlocksMs: options.fetchBlocksMs ?? 2_000,
    }
    this.#listener = new Listener({
      ...listenerOptionsOf({ ...options, maxConnections }),
      clock,
      portFlag: '--faktory-port',
      allowHalfOpen: true,
      handshakeFailed: rejected,
      connected: (socket) => {
        const handlerOf = (connection: Connection): Session =>
          new Session(connection, context, handlers)
        const { connectionLimits, dropped, heldBack } = options
        new Connection(socket, handlerOf, { ...connectionLimits, turns }, dropped, heldBack)
      },
      refuse: (socket, surplus) => {
        rejected(surplus, socket.remoteAddress)
        socket.write(
          error(`too many connections${refusalWords[surplus] ?? `: ${maxConnections + 1}`}`),
        )
      },
    })
  }

  /** The answer to INFO, JSON text. Throws a StoreError. */
  info(): Promise<string> {
    return this.#info.json()
  }

  /** The answer to `/health`. */
  health(): object {
    return this.#info.health()
  }

  /** Commands of all clients so far. */
  get commands(): number {
    return this.#state.commands
  }

  census(): Census {
    const { connections, byFunction, byQueue } = this.workers.census()
    const clients = this.#listener.connections - connections
    return { ...this.#listener.traffic(), clients, byFunction, byQueue }
  }

  get connections(): number {
    return this.#listener.connections
  }

  connectedWorkers(): Iterable<ConnectedWorker> {
    return this.workers.connectedWorkers()
  }

  get address(): ListenAddress | undefined {
    return this.#listener.address
  }

  listen(): Promise<ListenAddress> {
    this.workers.watch()
    this.#unsubscribe.push(
      this.#scheduler.queues.onConsumerNews((wid, news) => this.workers.onNews(wid, news)),
      this.#scheduler.onStoreReset(() => this.#lanes.openAgain()),
      this.#scheduler.onReconnected(() => this.workers.storeIsBack()),
      this.#scheduler.onLaneClosed((lane) => this.#lanes.forget(lane)),
      this.#scheduler.onLaneDropped((lane) => this.#lanes.dropped(lane)),
    )
    return this.#listener.listen()
  }

  /** Applies to new connections; open ones continue. */
  configure({ tls, password }: LiveDoor): void {
    if (tls) this.#listener.renewTls(tls)
    this.#handshake.configure(password)
  }

  stopAccepting(): void {
    this.#listener.stopAccepting()
  }

  /**
   * Stops handing out jobs: FETCH waits its time and is answered without one. Connections are still
   * accepted, since workers send outcomes on any of theirs.
   */
  drain(): void {
    this.#state.draining = true
    this.workers.drained()
  }

  close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.workers.stop()
    return this.#listener.close()
  }
}
