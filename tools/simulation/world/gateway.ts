import { EventEmitter } from 'node:events'
import type { Server, Socket } from 'node:net'
import { Scheduler, type Clock, type Observer, type RetryRules } from '@crossgear/core-scheduler'
import { jobActs } from '@crossgear/gateway/src/web/api/acts/job-acts.ts'
import { JobMove } from '@crossgear/gateway/src/web/api/acts/job-move.ts'
import { JobNames } from '@crossgear/gateway/src/web/api/reads/job-names.ts'
import { JobScan } from '@crossgear/gateway/src/web/api/reads/job-scan.ts'
import { FaktoryRetries } from '@crossgear/gateway/src/bridge/faktory-retries.ts'
import { FaktoryDoor } from '@crossgear/gateway/src/doors/faktory/faktory-door.ts'
import { GearmanDoor } from '@crossgear/gateway/src/doors/gearman/gearman-door.ts'
import { Handles } from '@crossgear/gateway/src/doors/gearman/handles.ts'
import type { Hands } from '@crossgear/gateway/src/doors/net/census.ts'
import type { OpenPort } from '@crossgear/gateway/src/doors/net/open-port.ts'
import { RoundRobin } from '@crossgear/gateway/src/doors/net/round-robin.ts'
import { Cron } from '@crossgear/gateway/src/operations/cron/cron.ts'
import { readCronEntry } from '@crossgear/gateway/src/config/cron-entry.ts'
import type { Random } from '@crossgear/tools/random'
import { ActorClock } from './actor-clock.ts'
import { liveSettings, type Settings } from './settings.ts'
import type { StoreLink } from './store-link.ts'
import type { Connected } from './store-reads.ts'
import { actorOf, type Actor, type Timeline } from './timeline.ts'
import type { Wire } from './wire.ts'

export type DoorName = 'gearman' | 'faktory'

/** Time for running jobs before a gateway ends, milliseconds. */
const drainMs = 4_000

/** Parts of a gateway that its world gives. */
export interface GatewayParts {
  readonly timeline: Timeline
  readonly random: Random
  readonly settings: Settings
  readonly observer: Observer
  /** Joins the store under a name of its own. */
  readonly link: (actor: Actor) => StoreLink
}

/** One gateway: its real scheduler and doors, whose sockets, clock and store are those of the world. */
export class Gateway {
  readonly actor: Actor
  readonly link: StoreLink
  readonly scheduler: Scheduler
  /** Acts of the API on jobs. */
  readonly api: ReturnType<typeof jobActs>
  readonly #timeline: Timeline
  readonly #clock: ActorClock
  readonly #doors: { readonly gearman: GearmanDoor; readonly faktory: FaktoryDoor }
  readonly #servers = new Map<DoorName, EventEmitter>()
  readonly #wires = new Map<Wire, DoorName>()
  readonly #cron: Cron
  #isOpen = false

  constructor(name: string, { timeline, random, settings, observer, link }: GatewayParts) {
    this.actor = actorOf(name)
    this.#timeline = timeline
    const clock = new ActorClock(timeline, this.actor, random)
    this.#clock = clock
    this.link = link(this.actor)
    this.scheduler = new Scheduler(this.link.store, clock, observer, {
      retryRules: quickRetries(() => random.next()),
      ...liveSettings(settings),
      maxLosses: 0,
      functionOrder: settings.functionOrder,
      repair: { mode: 'on', leaseMs: 5_000 },
      deadWorkerRequeue: settings.deadWorkerRequeue,
      deadWorkerMs: 15_000,
    })
    this.#doors = this.#doorsOn(clock, random)
    this.api = actsOn(this.scheduler)
    this.#cron = new Cron({
      scheduler: this.scheduler,
      clock,
      storeNowMs: () => this.scheduler.storeNowMs(),
      payloadRuleOf: () => 'auto',
      entries: settings.cron.map((entry) => readCronEntry(entry)),
      onError: (task, error) => observer.error(task, error),
      newId: () => `${name}-${random.whole(0, 1e9)}`,
    })
  }

  /** Clients may connect. */
  get isOpen(): boolean {
    return this.#isOpen && !this.actor.isGone
  }

  async start(): Promise<void> {
    await this.scheduler.start()
    await this.#cron.start()
    await this.#doors.gearman.listen()
    await this.#doors.faktory.listen()
    this.#isOpen = true
  }

  /** The workers of the gateway, while they have no jobs. */
  get workers(): Connected {
    const { gearman, faktory } = this.#doors
    const idle = (hands: ReadonlyMap<string, Hands>): ReadonlyMap<string, number> =>
      new Map([...hands].map(([name, hand]) => [name, hand.idle]))
    return {
      byFunction: idle(gearman.census().byFunction),
      byQueue: idle(faktory.census().byQueue),
    }
  }

  /** A client connects; the socket is the gateway's side. */
  accept(door: DoorName, wire: Wire): void {
    this.#wires.set(wire, door)
    wire.open((socket: Socket) => {
      if (this.#isOpen) this.#servers.get(door)?.emit('connection', socket)
      else socket.destroy()
    })
  }

  /** Takes other settings over, as at a reload. */
  configure(settings: Settings): void {
    this.scheduler.configure(liveSettings(settings))
  }

  freeze(): void {
    this.actor.isFrozen = true
  }

  thaw(): void {
    this.#timeline.thaw(this.actor)
  }

  /** The process of the gateway ends in the middle of whatever it does. */
  crash(): void {
    this.actor.isGone = true
    this.#isOpen = false
    for (const wire of this.#wires.keys()) wire.gatewayGone()
  }

  /** The gateway ends as at SIGTERM: no more jobs, running ones have some time, then its doors, then the store. */
  async stop(): Promise<void> {
    this.#isOpen = false
    const doors = [this.#doors.gearman, this.#doors.faktory]
    for (const door of doors) door.drain()
    this.scheduler.drain()
    await Promise.race([this.scheduler.whenIdle(), this.#clock.sleep(drainMs)])
    await this.#cron.stop()
    for (const door of doors) await door.close()
    await this.scheduler.stop().catch(() => undefined)
    await this.link.store.close()
    this.crash()
  }

  #doorsOn(clock: Clock, random: Random) {
    const { scheduler } = this
    const turns = new RoundRobin({
      clock,
      whenRoom: (items, task) => scheduler.whenRoom(items, task),
    })
    const connectionLimits = { clock, turns }
    const common = { scheduler, host: '127.0.0.1', port: 1, version: '0', connectionLimits }
    return {
      gearman: new GearmanDoor({
        ...common,
        maxConnections: 100,
        handlePrefix: `H:${this.actor.name}`,
        sockets: { open: this.#openPort('gearman') },
      }),
      faktory: new FaktoryDoor({
        ...common,
        clock,
        fetchBlocksMs: 500,
        deadAfterMs: 15_000,
        reapEveryMs: 3_000,
        newId: () => `b-${this.actor.name}-${random.whole(0, 1e9)}`,
        sockets: { open: this.#openPort('faktory') },
      }),
    }
  }

  #openPort(door: DoorName): OpenPort {
    return (create, { host, port }) => {
      const server: Server = create()
      this.#servers.set(door, server)
      return Promise.resolve({ address: { host, port }, stop: () => this.#servers.delete(door) })
    }
  }
}

function actsOn(scheduler: Scheduler): ReturnType<typeof jobActs> {
  let acts = 0
  const names = new JobNames(scheduler, new Handles('H', scheduler.registry))
  return jobActs({
    scheduler,
    names,
    scan: new JobScan(scheduler),
    move: new JobMove(scheduler),
    imports: { bytesOf: () => Promise.resolve(0), jobsInLane: () => Promise.resolve([]) },
    newActName: () => String((acts += 1)).padStart(12, '0'),
  })
}

/** Faktory's rules with delays of a tenth: time is what a world has least of. */
function quickRetries(random: () => number): RetryRules {
  const rules = new FaktoryRetries(random)
  return {
    lateReport: rules.lateReport,
    ofLosses: (nowMs) => rules.ofLosses(nowMs),
    ofFailure: (job, report, nowMs) => {
      const ruling = rules.ofFailure(job, report, nowMs)
      return ruling.kind === 'retry'
        ? { ...ruling, delayMs: Math.min(ruling.delayMs / 10, 4_000) }
        : ruling
    },
  }
}
