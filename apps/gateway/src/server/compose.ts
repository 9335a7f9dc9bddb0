import { type LaneNames, Scheduler, StoreError } from '@crossgear/core-scheduler'
import { RedisStore, type SchemaNews } from '@crossgear/redis-store'
import type { ApiBackend } from '../web/api/api.ts'
import type { ApiParts } from '../web/api/handler-parts.ts'
import { FaktoryRetries } from '../bridge/faktory-retries.ts'
import { flagOf } from '../config/options.ts'
import { limitsOf } from '../config/function-limits.ts'
import { notifyTarget } from '../config/notify-options.ts'
import { laneNamesOf } from '../config/routes.ts'
import { readDurability } from '../config/value-kinds.ts'
import { oneLine, StartError, StoreAway } from '../errors.ts'
import { isAway } from '../store/given-store.ts'
import { FaktoryDoor } from '../doors/faktory/faktory-door.ts'
import type { PayloadRuleOf } from '../doors/faktory/translate.ts'
import { Handles } from '../doors/gearman/handles.ts'
import { gearmandVersions } from '../doors/gearman/gearmand-version.ts'
import { systemClock } from '../doors/net/clock.ts'
import type { Door, WorkerSource } from '../doors/net/door.ts'
import { auditTrail } from '../operations/audit/audit-trail.ts'
import { answerBusy } from '../operations/busy-page.ts'
import { faktoryPages } from '../operations/faktory-pages.ts'
import { answerCron } from '../operations/cron/cron-page.ts'
import { Cron } from '../operations/cron/cron.ts'
import { Fleet } from '../operations/fleet/fleet.ts'
import { doorHooks } from '../operations/door-hooks.ts'
import { warnOfForeignFields } from '../config/log/log-deduper.ts'
import { GatewayFigures } from '../operations/metrics/figures/gateway-figures.ts'
import { JobHistory } from '../operations/history/job-history.ts'
import type { Census } from '../doors/net/census.ts'
import { Metrics } from '../operations/metrics/metrics.ts'
import { storeSnapshots } from '../operations/metrics/store-snapshot.ts'
import { LatestRefusal, refusedWritesOf } from '../operations/refused-writes.ts'
import { ReplicaNews } from '../operations/replica-news.ts'
import { observeWith } from '../operations/observe.ts'
import { Push } from '../doors/push/push.ts'
import { DeadJobNotices } from '../operations/notices/dead-job-notices.ts'
import { noticeText } from '../operations/notices/notice-text.ts'
import type { Readiness, WebParts } from '../web/web-server.ts'
import type { OpenStore } from '../store/open-store.ts'
import { configureDoors, type DoorParts, doorsOf, type Settings } from './doors.ts'
import { liveSettings, turnsBy } from './live-settings.ts'

const dayMs = 24 * 3600 * 1000
/** Most functions, and queues, that a line of the state names. */
const maxNamesOfState = 20

/** Inputs of the gateway's objects. */
export interface Parts extends Omit<DoorParts, 'payloadRuleOf' | 'acted'> {
  readonly store: OpenStore
  /** A store without an answer for this long counts as unreachable, milliseconds. 5000. */
  readonly answerWithinMs?: number
  /** Clock by which figures of the store are shared for a second, milliseconds. The system's. */
  readonly figuresNowMs?: () => number
  /** Called when the gateway cannot go on. Nothing. */
  readonly fail?: (reason: string) => void
}

/** The gateway's objects, for its life cycle. */
export interface Composition
  extends
    Pick<WebParts, 'openPages' | 'hooks'>,
    Required<Pick<WebParts, 'check' | 'pages' | 'figures' | 'storeKey' | 'acted' | 'api'>> {
  /** Name of this process in the store. */
  readonly node: string
  /** In opening order, without doors that are off. */
  readonly doors: readonly Door[]
  /** Sentences about its node, clients, workers and running jobs. */
  activity(): readonly string[]
  /** Takes other settings over while jobs flow; those that need a restart are ignored. */
  configure(settings: Settings): void
  /** Hands out no more jobs. */
  drain(): void
  /** Jobs that this gateway handed out, and queued ones that a worker can do. */
  unfinished(): Promise<number>
  /** Settles when no job handed out by this gateway is running. */
  idle(): Promise<void>
  /** Called after the doors are closed: ends the scheduler and its connections to the store. */
  close(): Promise<void>
}

/** Builds every object of the gateway: the one place where they are joined. */
export async function compose(parts: Parts): Promise<Composition> {
  const { config, store } = parts
  /** With what reloads have changed. */
  let current = config
  const payloadRuleOf: PayloadRuleOf = (fn) => current.routes.get(fn)?.payload ?? 'auto'
  const names = laneNamesOf(config)
  const metrics = new Metrics({ functions: config.metricsFunctions, names })
  const durability = readDurability(config.durability)
  const replicaNews = new ReplicaNews(durability, parts.log)
  const turnOf = turnsBy(payloadRuleOf, (fn) => metrics.turnShared(fn, 'none'))
  const redisStore = new RedisStore(store.address, {
    names,
    throttles: limitsOf(config),
    graceMs: config.bridgeGraceDays * dayMs,
    bridge: config.bridgeFaktory,
    observer: metrics.calls,
    onSchema: (news) => onSchema(news, parts),
    onReplicas: (count) => replicaNews.heard(count),
    onForeignField: warnOfForeignFields(parts.log, () => systemClock.nowMs()),
    ...(parts.answerWithinMs !== undefined && { answerWithinMs: parts.answerWithinMs }),
    ...(durability && { durability }),
  })
  const { node } = redisStore
  const { log } = parts
  const tracing = config.tracing ? await traceJobs(names, parts.version) : undefined
  if (tracing && !tracing.hasSdk) {
    log.warn(
      `${flagOf('tracing')} is on, but no OpenTelemetry SDK is loaded, so nothing is traced: ${sdkAdvice}.`,
    )
  }
  const history = new JobHistory({
    clock: systemClock,
    names,
    onError: (task, error) => observer.error(task, error),
  })
  const wallNowMs = (): number => Date.now()
  const agent = `crossgear/${parts.version}`
  const notices = new DeadJobNotices(notifyTarget(config), {
    clock: systemClock,
    wallNowMs,
    log,
    agent,
    textOf: (ref, diedAtMs) => noticeText(ref, diedAtMs, { scheduler, handles, node }),
  })
  const observer = observeWith(metrics, log, { history, notices, ...(tracing && { tracing }) })
  const scheduler = new Scheduler(redisStore, systemClock, observer, {
    ...liveSettings(config, turnOf),
    bridge: config.bridgeFaktory,
    retryRules: new FaktoryRetries(),
    maxLosses: config.jobRetries,
    wakeups: config.workerWakeup,
    deadWorkerRequeue: config.faktoryDeadWorkerRequeue === 'all' ? 'all' : 'others',
    ...(tracing && { traced: (lane, submission) => tracing.submission(lane, submission) }),
    functionOrder: gearmandVersions[config.gearmandVersion].functionOrder,
    ...(config.repair !== 'off' && {
      repair: { mode: config.repair, leaseMs: config.repairLeaseSeconds * 1000 },
    }),
  })
  const handles = new Handles(config.handlePrefix, scheduler.registry)
  const push = new Push({
    scheduler,
    handles,
    clock: systemClock,
    wallNowMs,
    log,
    agent,
    traceOf: ({ token, trace }) => tracing?.traceOf(token) ?? trace,
    onError: (error) => observer.error('push', error),
  })
  const cron = new Cron({
    scheduler,
    clock: systemClock,
    storeNowMs: () => scheduler.storeNowMs(),
    payloadRuleOf,
    entries: config.cron,
    onError: (task, error) => observer.error(task, error),
  })
  try {
    await redisStore.open()
    await scheduler.start()
    await cron.start()
    push.configure(config.routes)
    history.start(scheduler.history, scheduler)
  } catch (error) {
    await scheduler.stop().catch(() => undefined)
    await redisStore.close()
    const Failure = isAway(error) ? StoreAway : StartError
    const line = refusedWritesOf(error)?.line ?? `The store does not take jobs: ${oneLine(error)}.`
    throw new Failure(line, 1, { cause: error })
  }
  metrics.storeUp(true)
  const acted = auditTrail({ store: scheduler.audit, node, log })
  const latestRefusal = new LatestRefusal(() => systemClock.nowMs())
  const hooksOf = (door: string) =>
    doorHooks(door, { metrics: metrics.door(door), log, observer, latestRefusal })
  const web = config.webPort === 'off' ? undefined : hooksOf('web')
  const doors = await doorsOf({ ...parts, log, payloadRuleOf, acted }, scheduler, hooksOf)
  const faktory = doors.find((door) => door instanceof FaktoryDoor)
  const workplaces = (): readonly WorkerSource[] => (push.isUsed ? [...doors, push] : doors)
  const fleet = new Fleet({
    scheduler,
    clock: systemClock,
    node,
    version: parts.version,
    doors: workplaces,
  })
  const figuresNowMs = parts.figuresNowMs ?? (() => systemClock.nowMs())
  const snapshots = storeSnapshots(scheduler, figuresNowMs)
  return {
    node,
    doors,
    check: () => readiness(scheduler, latestRefusal, replicaNews),
    ...(web && { hooks: webHooks(metrics, web) }),
    acted,
    storeKey: () => scheduler.audit.sessionKey(),
    ...(faktory && { openPages: faktoryPages(faktory, web?.rejected) }),
    pages: {
      '/cron': (request) => answerCron(cron, request),
      '/busy': (request) =>
        answerBusy({ scheduler, workers: faktory?.workers, clock: systemClock }, request),
    },
    api: lateApi({
      scheduler,
      snapshots,
      doors,
      cron,
      fleet,
      node,
      log,
      version: parts.version,
      ...(web && { rejected: web.rejected }),
      imports: redisStore.imports,
      config: () => current,
    }),
    configure: (next) => {
      current = next.config
      log.level = current.logLevel
      const live = liveSettings(current, turnOf)
      names.rehome(live.homes)
      redisStore.configure(live.throttles)
      scheduler.configure(live)
      cron.configure(current.cron)
      push.configure(current.routes)
      notices.configure(notifyTarget(current))
      configureDoors(doors, next)
    },
    figures: new GatewayFigures({
      metrics,
      scheduler,
      snapshots,
      node,
      version: parts.version,
      store: store.kind,
      doors: workplaces,
      others: () => [...push.figures(), ...notices.figures()],
      gearmandVersion: gearmandVersions[config.gearmandVersion].number,
      migrations: redisStore.imports.migrations,
      queues: config.metricsFunctions,
      ...(faktory && { faktory }),
    }),
    activity: () => [
      `node ${node}, jobs handed out by it: ${scheduler.running}.`,
      ...workplaces().map((door) => `${door.name}: ${peersOf(door.census())}.`),
    ],
    drain: () => scheduler.drain(),
    unfinished: () => unfinished(scheduler),
    idle: () => scheduler.whenIdle(),
    close: async () => {
      await cron.stop()
      await history.stop()
      await push.close()
      await notices.close()
      await scheduler
        .stop()
        .catch((error: unknown) =>
          log.warn(`The scheduler did not stop cleanly: ${oneLine(error)}`),
        )
      await redisStore.close()
      await tracing?.flush()
    },
  }
}

/** Clients and workers of a door, by what they work for. */
function peersOf({ clients, byFunction, byQueue }: Census): string {
  const hands = (of: Census['byQueue'], kind: string): readonly string[] =>
    [...of]
      .slice(0, maxNamesOfState)
      .map(([name, { idle, busy }]) => `${kind} ${name}: ${busy} busy and ${idle} idle`)
  const named = [...hands(byFunction, 'function'), ...hands(byQueue, 'queue')]
  return [`${clients} clients`, ...named].join('; ')
}

function webHooks(
  metrics: Metrics,
  { rejected: limited, connected: opened, closed }: ReturnType<typeof doorHooks>,
): NonNullable<WebParts['hooks']> {
  return { limited, opened, closed, loginFailed: (reason) => metrics.loginFailed(reason) }
}

/** The API is loaded at its first call: most gateways get none. */
function lateApi(parts: ApiParts): ApiBackend {
  const load = async () => (await import('../web/api/compose-api.ts')).composeApi(parts)
  let api: ReturnType<typeof load> | undefined
  return { call: async (name, input) => await (await (api ??= load())).call(name, input) }
}

const sdkAdvice = 'load one with NODE_OPTIONS; OTEL_LOG_LEVEL=warn lets it say what it lacks'

/** OpenTelemetry is loaded where it is wanted. */
async function traceJobs(names: LaneNames, version: string) {
  const { JobTracing } = await import('../operations/tracing/job-tracing.ts')
  return new JobTracing(names, version)
}

function onSchema(news: SchemaNews, { log, fail }: Parts): void {
  if (news.kind === 'taken') {
    log.info(`The store's structures are of version ${news.version} from now on.`)
  } else if (news.kind === 'failed') {
    log.warn(`The store's structures are converted again in a second: ${oneLine(news.error)}.`)
  } else {
    log.fatal(`The store was taken over: ${news.message}.`)
    fail?.('a newer gateway has the store')
  }
}

async function readiness(
  scheduler: Scheduler,
  latest: LatestRefusal,
  { note }: ReplicaNews,
): Promise<Readiness> {
  try {
    await scheduler.check()
    latest.check()
    return { ready: true, ...(note !== undefined && { note }) }
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
