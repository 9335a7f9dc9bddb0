import { LaneNames, Scheduler, StoreError, type LaneCounts } from '@crossgear/core-scheduler'
import { RedisStore } from '@crossgear/gearmonkey-redis/store'
import type { Config } from '../config/load-config.ts'
import { readDurability } from '../config/durability-level.ts'
import { routedHomes, type Route } from '../config/routes.ts'
import { answerCron } from '../ops/cron/cron-page.ts'
import { Cron } from '../ops/cron/cron.ts'
import { answerBusy } from '../faktory/busy-page.ts'
import { FaktoryDoor } from '../faktory/faktory-door.ts'
import type { Neighbours } from '../faktory/neighbours.ts'
import { AdminAccess } from '../gearman/admin-access.ts'
import { GearmanDoor } from '../gearman/gearman-door.ts'
import { gearmandVersions } from '../gearman/gearmand-version.ts'
import { HttpDoor } from '../http/http-door.ts'
import type { Logger } from '../ops/log/logger.ts'
import { Arrivals } from '../net/arrivals.ts'
import { systemClock } from '../net/clock.ts'
import { ownNames } from '../net/foreign-requests.ts'
import { readNetworks } from '../net/networks.ts'
import type { OpenPort } from '../net/open-port.ts'
import type { OpenStore } from '../redis-server/open-store.ts'
import type { JobCount, Metrics } from '../ops/metrics.ts'
import type { Readiness, WebParts } from '../ops/web-server.ts'
import type { Door } from './door.ts'
import { doorHooks } from './door-hooks.ts'
import type { DoorTls } from './door-tls.ts'
import { warnOfGoingAway } from './going-away.ts'
import { observeWith } from '../ops/observe.ts'
import { oneLine, StartError } from '../errors.ts'

const dayMs = 24 * 3600 * 1000

/** What the life cycle has ready when the gateway's objects are built. */
export interface Parts {
  readonly config: Config
  readonly version: string
  readonly tls: DoorTls
  readonly store: OpenStore
  readonly metrics: Metrics
  readonly log: Logger
  /** The text command `shutdown` came by the Gearman port. */
  readonly shutdown: (graceful: boolean) => void
  /** What the Gearman text command `verbose` answers. ERROR. */
  readonly verbosity?: string
  /** Set where this is one of several processes that share their ports. */
  readonly shared?: SharedParts
  /** A store that does not answer within this time counts as unreachable, milliseconds. 5000. */
  readonly answerWithinMs?: number
}

/** What one of several processes does in another way. */
export interface SharedParts {
  /** What the Gearman text command `getpid` answers: the process that is sent signals. */
  readonly pid: number
  readonly openPort: OpenPort
  readonly neighbours: Neighbours
}

/** The gateway's objects, as far as the life cycle handles them. */
export interface Composition {
  /** What the store knows this process by. */
  readonly node: string
  /** In the order in which they open. A door that is off is not among them. */
  readonly doors: readonly Door[]
  /** Asks the store whether it takes jobs. */
  check(): Promise<Readiness>
  /** Pages of the web port, by path. */
  readonly pages: NonNullable<WebParts['pages']>
  /** The jobs in the store, for the metrics. */
  counts(): Promise<readonly JobCount[]>
  /** Hands out no more jobs. */
  drain(): void
  /** Jobs that this gateway handed out, and queued ones that some worker can do. */
  unfinished(): Promise<number>
  /** Settles when no job that this gateway handed out is running. */
  idle(): Promise<void>
  /** After the doors are closed: the scheduler and its connections to the store. */
  close(): Promise<void>
}

/** Builds every object of the gateway: the one place where they are joined. */
export async function compose(parts: Parts): Promise<Composition> {
  const { config, store, metrics } = parts
  const homes = routedHomes(config.routes)
  const durability = readDurability(config.durability)
  const redisStore = new RedisStore(store.address, {
    names: new LaneNames(homes),
    throttles: config.throttles,
    graceMs: config.bridgeGraceDays * dayMs,
    ...(parts.answerWithinMs !== undefined && { answerWithinMs: parts.answerWithinMs }),
    ...(durability && { durability }),
  })
  const { node } = redisStore
  // Where several write one log, it is told who does.
  const log = parts.shared ? parts.log.child({ node }) : parts.log
  const observer = observeWith(metrics, log)
  const scheduler = new Scheduler(redisStore, systemClock, observer, {
    homes,
    bridge: config.bridgeFaktory,
    routed: new Set(homes.keys()),
    retries: routed(config, ({ retries }) => retries),
    retentionSeconds: routed(config, ({ retentionSeconds }) => retentionSeconds),
    maxLosses: config.jobRetries,
    throttles: config.throttles,
    wakeups: config.workerWakeup,
    deadWorkerRequeue: config.faktoryDeadWorkerRequeue,
    functionOrder: gearmandVersions[config.gearmandVersion].functionOrder,
    ...(config.repair !== 'off' && {
      repair: { mode: config.repair, leaseMs: config.repairLeaseSeconds * 1000 },
    }),
  })
  const cron = new Cron({
    scheduler,
    clock: systemClock,
    storeNowMs: () => scheduler.storeNowMs(),
    payloadRuleOf: (fn) => config.routes.get(fn)?.payload ?? 'auto',
    entries: config.cron,
    trouble: (task, error) => observer.trouble(task, error),
  })
  try {
    await redisStore.open()
    await scheduler.start()
    await cron.start()
  } catch (error) {
    await redisStore.close()
    throw new StartError(`The store does not take jobs: ${oneLine(error)}.`, 1, { cause: error })
  }
  metrics.storeUp(true)
  const doors = doorsOf({ ...parts, log }, scheduler, (door) =>
    doorHooks(door, { metrics: metrics.door(door), log, observer }),
  )
  const workers = doors.find((door) => door instanceof FaktoryDoor)?.workers
  return {
    node,
    doors,
    check: () => readiness(scheduler),
    pages: {
      '/cron': (request) => answerCron(cron, request),
      '/busy': (request) => answerBusy({ scheduler, workers, clock: systemClock }, request),
    },
    counts: async () => (await scheduler.jobs.counts()).flatMap((lane) => jobCounts(lane)),
    drain: () => scheduler.drain(),
    unfinished: () => unfinished(scheduler),
    idle: () => scheduler.whenIdle(),
    close: async () => {
      await cron.stop()
      await scheduler.stop().catch((error: unknown) => log.warn(`Leaving: ${oneLine(error)}`))
      await redisStore.close()
    },
  }
}

function doorsOf(
  parts: Parts,
  scheduler: Scheduler,
  hooks: (door: 'gearman' | 'faktory' | 'http') => ReturnType<typeof doorHooks>,
): Door[] {
  const { config, version, tls, shared, log } = parts
  const gearmand = gearmandVersions[config.gearmandVersion]
  const { host, handlePrefix, maxConnections, maxPacketBytes } = config
  const sockets = {
    backlog: config.backlog,
    keepAliveMs: config.keepaliveSeconds * 1000,
    maxPerAddress: config.maxConnectionsPerAddress,
    ...(shared && { open: shared.openPort }),
  }
  const common = { scheduler, host, maxConnections, sockets }
  const peerLimits = () => ({
    dropBytes: config.maxUnsentBytes,
    stallMs: config.stallSeconds * 1000,
    arrivals: new Arrivals(config.maxBufferedBytes),
  })
  const adminFrom = config.adminFrom === undefined ? [] : (readNetworks(config.adminFrom) ?? [])
  const admins = new AdminAccess(adminFrom)
  const doors: Door[] = []
  if (config.gearmanPort !== 'off') {
    const options = {
      ...{ ...common, port: config.gearmanPort, handlePrefix, maxPacketBytes },
      version: gearmand.number,
      peerLimits: peerLimits(),
      exceptionsForAll: config.exceptions,
      roundRobin: config.roundRobin || gearmand.alwaysInTurn,
      maxFunctions: config.maxFunctions,
      adminFrom,
      shutdown: parts.shutdown,
      ...(shared && { pid: shared.pid }),
      ...(parts.verbosity !== undefined && { verbosity: parts.verbosity }),
      ...(tls.gearman && { tls: tls.gearman }),
      ...hooks('gearman'),
    }
    doors.push(new GearmanDoor(options))
  }
  if (config.faktoryPort !== 'off') {
    const options = {
      ...{ ...common, version, port: config.faktoryPort, maxLineBytes: maxPacketBytes },
      peerLimits: peerLimits(),
      clock: systemClock,
      helloWithinMs: config.handshakeSeconds * 1000,
      payloadRuleOf: (fn: string) => config.routes.get(fn)?.payload ?? 'auto',
      passwordTries: config.faktoryPasswordTries,
      mayFlush: (address: string) => admins.allows(address),
      goingAway: warnOfGoingAway(log, () => systemClock.nowMs()),
      ...(shared && { neighbours: shared.neighbours }),
      ...(config.faktoryPassword !== undefined && { password: config.faktoryPassword }),
      ...(tls.faktory && { tls: tls.faktory }),
      ...hooks('faktory'),
    }
    doors.push(new FaktoryDoor(options))
  }
  if (config.httpPort !== 'off') {
    const options = {
      ...{ ...common, port: config.httpPort, handlePrefix, maxBodyBytes: maxPacketBytes },
      version: gearmand.number,
      hostNames: ownNames(config.allowedHosts, host),
      maxBufferedBytes: config.maxBufferedBytes,
      stallMs: config.stallSeconds * 1000,
      ...hooks('http'),
    }
    doors.push(new HttpDoor(options))
  }
  return doors
}

/** What the routes say of one matter, by function. */
function routed<Value>(
  { routes }: Config,
  pick: (route: Route) => Value | undefined,
): ReadonlyMap<string, Value> {
  const values = new Map<string, Value>()
  for (const [fn, route] of routes) {
    const value = pick(route)
    if (value !== undefined) values.set(fn, value)
  }
  return values
}

async function readiness(scheduler: Scheduler): Promise<Readiness> {
  try {
    await scheduler.check()
    return { ready: true }
  } catch (error) {
    const code = error instanceof StoreError ? `${error.code}: ` : ''
    return { ready: false, reason: `store ${code}${oneLine(error)}` }
  }
}

async function unfinished(scheduler: Scheduler): Promise<number> {
  const lanes = await scheduler.jobs.counts()
  const queued = lanes
    .filter(({ workers }) => workers > 0)
    .reduce((sum, { high, normal, low }) => sum + high + normal + low, 0)
  return scheduler.running + queued
}

function jobCounts(counts: LaneCounts): JobCount[] {
  const { lane, high, normal, low, running, scheduled, dead } = counts
  const states = { enqueued: high + normal + low, working: running, scheduled, dead }
  return Object.entries(states).map(([state, n]) => ({ function: lane, state, n }))
}
