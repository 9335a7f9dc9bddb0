import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import {
  LaneNames,
  StoreError,
  maxLanes,
  type ClaimRequest,
  type Job,
  type JobRef,
  type JobSummary,
  type LaneCounts,
  type LaneLimits,
  type NewJob,
  type Outcome,
  type Pulse,
  type Report,
  type Reservation,
  type Settled,
  type Store,
  type StoreListener,
  type Submitted,
  type Throttle,
  type WorkerCount,
} from '@crossgear/core-scheduler'
import { RedisAdministration } from './administration.ts'
import { chunks } from './chunks.ts'
import { commandConnection, eventConnection, type StoreAddress } from './connection.ts'
import { isUnheard, storeErrorOf } from './errors.ts'
import { RedisBatches } from './batches.ts'
import { RedisCron } from './cron.ts'
import { Events } from './events.ts'
import { fieldsOf, jobOf, reservationOf, type ReservedReply } from './job-hash.ts'
import { Keys } from './keys.ts'
import { RedisNativeStore } from './native-store.ts'
import { RedisQueues } from './queues.ts'
import { throttleArguments } from './throttle-arguments.ts'
import { UnheardClaims } from './unheard-claims.ts'
import { Scripts, type ScriptArgument, type ScriptName } from './scripts.ts'

/** Bounds of what dead jobs may keep. Defaults at the end of each line. */
export interface RedisStoreOptions {
  /** Which Faktory queue is home to a function. `default` for all. */
  readonly names?: LaneNames
  /** Dead jobs that a lane keeps, the oldest go first. 10000. */
  readonly deadPerLane?: number
  /** How long a dead job is kept, seconds. 180 days. */
  readonly deadSeconds?: number
  /** How long a Faktory worker may hold a job that does not say, seconds. 1800. */
  readonly reserveForSeconds?: number
  /** Limits of Faktory queues, the same at every node. None. */
  readonly throttles?: ReadonlyMap<string, Throttle>
  /** A server that does not answer within this time counts as unreachable, milliseconds. 5000. */
  readonly answerWithinMs?: number
}

const mostDead = 10_000
const deadForSeconds = 180 * 24 * 3600
const settledOf: readonly Settled[] = ['unknown', 'done', 'released', 'dropped']
/** Lanes with due jobs that one promotion takes on; the rest have the next one. */
const dueLanesPerLook = 1_000
/** Lanes whose due jobs are moved in one call, some 20 us of the store's time each. */
const promotedAtOnce = 64
/** Due jobs moved per call. */
const promotedPerCall = 1_000
/** Keys that one look for unknown lanes goes through, about 2 ms of the server's time. */
const keysPerLook = 5_000
/** Lanes in one call where a call takes several. */
const lanesPerCall = 1_000
/** Times one promotion goes back for more, so that a flood of due jobs does not block the rest. */
const promotionRounds = 20

/** The store port on one Redis or Valkey server. */
export class RedisStore implements Store {
  readonly node = randomBytes(5).toString('hex')
  readonly #redis: Redis
  readonly #eventRedis: Redis
  readonly #scripts: Scripts
  readonly #administration: RedisAdministration
  readonly queues: RedisQueues
  readonly batches: RedisBatches
  readonly cron: RedisCron
  readonly native: RedisNativeStore
  readonly #events: Events
  readonly #unheard = new UnheardClaims()
  readonly #keys = new Keys()
  readonly #names: LaneNames
  readonly #options: RedisStoreOptions
  #token = 0
  #scanned = '0'
  #offsetMs = 0
  #up = true
  #listener: StoreListener | undefined

  constructor(address: StoreAddress, options: RedisStoreOptions = {}) {
    this.#redis = commandConnection(address, this.node, options.answerWithinMs)
    this.#eventRedis = eventConnection(address, this.node, options.answerWithinMs)
    this.#scripts = new Scripts(this.#redis)
    this.#administration = new RedisAdministration({
      redis: this.#redis,
      keys: this.#keys,
      node: this.node,
      run: (...call) => this.#run(...call),
    })
    this.#events = new Events(this.#eventRedis, this.#keys, this.node)
    this.#names = options.names ?? new LaneNames()
    this.#options = options
    this.queues = new RedisQueues({
      redis: this.#redis,
      keys: this.#keys,
      node: this.node,
      names: this.#names,
      deadPerLane: options.deadPerLane ?? mostDead,
      deadSeconds: options.deadSeconds ?? deadForSeconds,
      run: (...call) => this.#run(...call),
      call: (send) => this.#call(send),
    })
    this.native = new RedisNativeStore({
      redis: this.#redis,
      keys: this.#keys,
      node: this.node,
      names: this.#names,
      run: (...call) => this.#run(...call),
      call: (send) => this.#call(send),
    })
    this.cron = new RedisCron(this.#redis, this.#keys, (send) => this.#call(send))
    this.batches = new RedisBatches({
      redis: this.#redis,
      keys: this.#keys,
      names: this.#names,
      run: (...call) => this.#run(...call),
      call: (send) => this.#call(send),
    })
    for (const redis of [this.#redis, this.#eventRedis]) {
      redis.on('error', (error: Error) => this.#isDown(error.message))
      redis.on('close', () => this.#isDown('connection closed'))
      redis.on('ready', () => this.#mayBeUp())
    }
  }

  /** Connects. Throws a {@link StoreError} where the server cannot be reached. */
  async open(): Promise<void> {
    try {
      await Promise.all([this.#redis.connect(), this.#eventRedis.connect()])
      await this.#events.start()
    } catch (error) {
      throw storeErrorOf(error)
    }
  }

  listen(listener: StoreListener): void {
    this.#listener = listener
    this.#events.listen(listener)
  }

  async registerLane(lane: string): Promise<number> {
    const number = await this.#run('register-lane', [this.#keys.lanes], [lane, maxLanes])
    if (number === 0) throw new StoreError('TOO_MANY_LANES', `more than ${maxLanes} functions`)
    return Number(number)
  }

  async lanes(): Promise<ReadonlyMap<string, number>> {
    const pairs = Object.entries(await this.#call(() => this.#redis.hgetall(this.#keys.lanes)))
    return new Map(pairs.map(([lane, number]) => [lane, Number(number)]))
  }

  async submit(lane: string, jobs: readonly NewJob[]): Promise<readonly Submitted[]> {
    const args: ScriptArgument[] = [lane, this.node, this.#names.parse(lane).queue, jobs.length]
    for (const job of jobs) {
      const fields = fieldsOf(job)
      if (job.foreground) fields.push('wait', this.node, 'fg', 1)
      args.push(
        job.level,
        job.dueAtMs ?? '',
        job.unique ?? '',
        job.foreground ? '1' : '',
        job.jid ?? '',
        job.lock?.key ?? '',
        job.lock?.forMs ?? 0,
        job.batch ?? '',
        job.tick?.entry ?? '',
        job.tick?.atMs ?? 0,
        fields.length,
        ...fields,
      )
    }
    const reply = (await this.#run('submit', [this.#keys.uid(lane)], args)) as (number | Buffer)[]
    return reply.map((id) => {
      if (typeof id !== 'number')
        return { kind: id.toString() as 'locked' | 'unbatched' | 'ticked' }
      if (id === 0) return { kind: 'full' }
      return id > 0 ? { kind: 'created', id } : { kind: 'joined', id: -id }
    })
  }

  async claim(request: ClaimRequest): Promise<readonly Reservation[]> {
    const { by, groups, ahead = 0 } = request
    const limits = throttleArguments(groups, this.#names, this.#options.throttles)
    const max = request.max + (limits[0] === 0 ? ahead : 0)
    const first = groups.find(({ lanes }) => lanes.length > 0)?.lanes[0]
    if (first === undefined) return []
    const letter = by === 'named' ? 'n' : 'c'
    const reserveMs = 1000 * (this.#options.reserveForSeconds ?? 1800)
    const args: ScriptArgument[] = [letter, `${letter}${this.node}-`, this.#token, max, reserveMs]
    args.push(groups.length)
    for (const { lanes, queue, leaseMs } of groups) {
      // The hint index knows the lanes of a queue; that there are several is all it needs to be told.
      const named = queue === undefined ? lanes : lanes.slice(0, 2)
      args.push(leaseMs ?? '', queue ?? '', named.length, ...named)
    }
    args.push(...limits)
    const firstToken = this.#token
    this.#token += max
    const key = this.#keys.queue(first, 'normal')
    const reply = await this.#run('claim', [key], args).catch((error: unknown) => {
      const lost = groups.flatMap(({ lanes }) => lanes)
      if (isUnheard(error)) this.#unheard.add(lost, firstToken, max)
      throw error
    })
    const [jobs, throttled, left] = reply as [unknown, readonly Buffer[], number]
    if (left === 0) request.emptied?.()
    for (let at = 0; at + 1 < throttled.length; at += 2) {
      request.throttled?.(String(throttled[at]), Number(String(throttled[at + 1])))
    }
    return this.#reservations(jobs)
  }

  async finish(lane: string, outcomes: readonly Outcome[]): Promise<readonly Settled[]> {
    const { deadPerLane = mostDead, deadSeconds = deadForSeconds } = this.#options
    const { queue } = this.#names.parse(lane)
    const args: ScriptArgument[] = [lane, this.node, queue, deadPerLane, deadSeconds]
    args.push(outcomes.length)
    for (const outcome of outcomes) {
      args.push(outcome.kind, outcome.id, outcome.token, ...outcomeArguments(outcome))
    }
    const reply = (await this.#run('finish', [this.#keys.busy(lane)], args)) as number[]
    return reply.map((result) => settledOf[result] ?? 'unknown')
  }

  async report(lane: string, reports: readonly Report[]): Promise<readonly boolean[]> {
    const args: ScriptArgument[] = [lane, this.node, reports.length]
    for (const report of reports) {
      args.push(report.kind, report.id, report.token)
      if (report.kind === 'status') args.push(report.dividend, report.divisor)
      else args.push(report.data, '')
    }
    const reply = (await this.#run('report', [this.#keys.busy(lane)], args)) as number[]
    return reply.map((known) => known === 1)
  }

  async abandon(lane: string, ids: readonly number[]): Promise<void> {
    await this.#run('abandon', [this.#keys.busy(lane)], [lane, this.node, ...ids])
  }

  async read(lane: string, ids: readonly number[]): Promise<readonly (Job | undefined)[]> {
    const replies = await this.#pipeline((pipeline) => {
      for (const id of ids) pipeline.hgetallBuffer(this.#keys.job(lane, id))
    })
    return ids.map((id, at) => jobOf(lane, id, flat(replies[at])))
  }

  async findJid(jid: string, lanes: readonly string[]): Promise<JobRef | undefined> {
    const [ref] = await this.#find((lane) => this.#keys.jid(lane), jid, lanes)
    return ref
  }

  async findUnique(unique: Uint8Array, lanes: readonly string[]): Promise<readonly JobRef[]> {
    return this.#find((lane) => this.#keys.unique(lane), Buffer.from(unique), lanes)
  }

  async counts(lanes: readonly string[]): Promise<readonly LaneCounts[]> {
    const replies = await Promise.all(
      lanes.map((lane) => this.#run('counts', [this.#keys.busy(lane)], [lane])),
    )
    return lanes.map((lane, at) => countsOf(lane, replies[at] as number[]))
  }

  async discover(): Promise<readonly string[]> {
    const pattern = this.#keys.uid('*')
    const [cursor, found] = await this.#call(() =>
      this.#redis.scan(this.#scanned, 'MATCH', pattern, 'COUNT', keysPerLook),
    )
    this.#scanned = cursor
    return found.map((key) => this.#keys.laneOf(key))
  }

  async nonEmpty(lanes: readonly string[]): Promise<readonly string[]> {
    const found: string[] = []
    for (const some of chunks(lanes, lanesPerCall)) {
      const key = this.#keys.queue(some[0] ?? '', 'normal')
      const reply = (await this.#run('non-empty', [key], this.#withQueues(some))) as Buffer[]
      found.push(...reply.map(String))
    }
    return found
  }

  async setLimits(lane: string, limits: LaneLimits): Promise<void> {
    await this.#call(() => this.#administration.setLimits(lane, limits))
  }

  cancel(lane: string, id: number): Promise<boolean> {
    return this.#administration.cancel(lane, id)
  }

  listJobs(
    lane: string,
    from: number,
    count: number,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly more: boolean }> {
    return this.#administration.listJobs(lane, from, count)
  }

  clearLane(lane: string, max: number): Promise<readonly number[] | 'busy'> {
    return this.#administration.clearLane(lane, max)
  }

  async unregisterLane(lane: string): Promise<void> {
    await this.#call(() => this.#administration.unregisterLane(lane))
  }

  async openLane(lane: string): Promise<void> {
    await this.#call(() => this.#redis.hset(this.#keys.meta(lane), 'open', '1'))
  }

  async setWorkers(lane: string, { named, consumers }: WorkerCount): Promise<void> {
    const args = [lane, this.node, named, consumers]
    await this.#run('set-workers', [this.#keys.count(lane)], args)
  }

  async promote(): Promise<readonly { lane: string; jobs: number }[]> {
    const due = (await this.#run('due-lanes', [this.#keys.due], [dueLanesPerLook])) as Buffer[]
    const promoted = new Map<string, number>()
    for (const some of chunks(due.map(String), promotedAtOnce)) await this.#promote(some, promoted)
    return [...promoted].map(([lane, jobs]) => ({ lane, jobs }))
  }

  /** Moves what is due in these lanes, and adds it up. */
  async #promote(lanes: readonly string[], promoted: Map<string, number>): Promise<void> {
    const key = this.#keys.queue(lanes[0] ?? '', 'scheduled')
    const args = [promotedPerCall, ...this.#withQueues(lanes)]
    for (let round = 0; round < promotionRounds; round += 1) {
      let total = 0
      const reply = (await this.#run('promote', [key], args)) as readonly (readonly [number])[]
      for (const [at, lane] of lanes.entries()) {
        const jobs = reply[at]?.[0] ?? 0
        if (jobs > 0) promoted.set(lane, (promoted.get(lane) ?? 0) + jobs)
        total += jobs
      }
      if (total < promotedPerCall) return
    }
  }

  async heal(lanes: readonly string[]): Promise<void> {
    for (const some of chunks(lanes, lanesPerCall)) {
      const key = this.#keys.queue(some[0] ?? '', 'scheduled')
      await this.#run('heal', [key], this.#withQueues(some))
    }
  }

  async expired(lanes: readonly string[], max: number): Promise<readonly Reservation[]> {
    const found: Reservation[] = []
    for (const some of chunks(lanes, lanesPerCall)) {
      const key = this.#keys.busy(some[0] ?? '')
      found.push(...this.#reservations(await this.#run('expired', [key], [max, ...some])))
    }
    return found
  }

  async beat(deadAfterMs: number): Promise<Pulse> {
    const reply = await this.#run('beat', [this.#keys.nodes], [this.node, deadAfterMs])
    const [now, isNew, ...dead] = reply as [Buffer, number, ...Buffer[]]
    const nowMs = Number(now.toString())
    this.#offsetMs = nowMs - Date.now()
    await this.#unheard.settle((lane, first, end) => this.#putBack(lane, first, end))
    return { nowMs, forgotten: isNew === 1, dead: dead.map(String) }
  }

  async bury(node: string, lanes: readonly string[]): Promise<readonly string[]> {
    const replies = await Promise.all(
      lanes.map((lane) => {
        const { queue } = this.#names.parse(lane)
        return this.#run('bury', [this.#keys.busy(lane)], [lane, node, queue])
      }),
    )
    await this.#call(() => this.#redis.zrem(this.#keys.nodes, node))
    return lanes.filter((_lane, at) => Number(replies[at]) > 0)
  }

  async leave(lanes: readonly string[]): Promise<void> {
    await this.bury(this.node, lanes)
    await this.native.lead(0)
  }

  async watch(lanes: ReadonlySet<string> | 'all'): Promise<void> {
    await this.#call(() => this.#events.watch(lanes))
  }

  async check(): Promise<void> {
    await this.#call(() => Promise.all([this.#redis.ping(), this.#eventRedis.ping()]))
  }

  close(): Promise<void> {
    this.#listener = undefined
    this.#redis.disconnect()
    this.#eventRedis.disconnect()
    return Promise.resolve()
  }

  /** What no worker has heard of goes back to the front. */
  async #putBack(lane: string, first: number, end: number): Promise<void> {
    const args = [lane, this.node, first, end]
    const found = (await this.#run('unheard', [this.#keys.busy(lane)], args)) as Buffer[]
    const returns = [...chunks(found, 2)].map(([id, token]) => ({
      ...{ lane, id: Number(String(id)), token: String(token) },
      kind: 'return' as const,
    }))
    if (returns.length > 0) await this.finish(lane, returns)
  }

  /** Lanes, each with the queue in whose hint index it is. */
  #withQueues(lanes: readonly string[]): string[] {
    return lanes.flatMap((lane) => [lane, this.#names.parse(lane).queue])
  }

  #reservations(reply: unknown): Reservation[] {
    const nowMs = Date.now() + this.#offsetMs
    return (reply as ReservedReply[]).map((job) => reservationOf(job, nowMs))
  }

  async #find(
    keyOf: (lane: string) => string,
    member: string | Buffer,
    lanes: readonly string[],
  ): Promise<JobRef[]> {
    const replies = await this.#pipeline((pipeline) => {
      for (const lane of lanes) pipeline.hgetBuffer(keyOf(lane), member)
    })
    return lanes.flatMap((lane, at) => {
      const id = replies[at]
      return Buffer.isBuffer(id) ? [{ lane, id: Number(id.toString()) }] : []
    })
  }

  #run(
    name: ScriptName,
    keys: readonly string[],
    args: readonly ScriptArgument[],
  ): Promise<unknown> {
    const { open, close } = this.#keys
    return this.#call(() => this.#scripts.run(name, keys, [open, close, ...args]))
  }

  async #pipeline(fill: (pipeline: ReturnType<Redis['pipeline']>) => void): Promise<unknown[]> {
    const pipeline = this.#redis.pipeline()
    fill(pipeline)
    const replies = (await this.#call(() => pipeline.exec())) ?? []
    return replies.map(([error, reply]) => {
      if (error) throw storeErrorOf(error)
      return reply
    })
  }

  async #call<Reply>(send: () => Promise<Reply>): Promise<Reply> {
    try {
      return await send()
    } catch (error) {
      throw storeErrorOf(error)
    }
  }

  #isDown(reason: string): void {
    if (!this.#up) return
    this.#up = false
    this.#listener?.down(reason)
  }

  #mayBeUp(): void {
    const ready = this.#redis.status === 'ready' && this.#eventRedis.status === 'ready'
    if (this.#up || !ready) return
    this.#up = true
    this.#listener?.up()
  }
}

function outcomeArguments(outcome: Outcome): [ScriptArgument, ScriptArgument, ScriptArgument] {
  switch (outcome.kind) {
    case 'complete':
      return [outcome.output, '', '']
    case 'fail':
      return [outcome.message, outcome.thrown ? '1' : '', '']
    case 'retry':
      return [outcome.message, outcome.delayMs, outcome.failure]
    case 'dead':
      return [outcome.message, '', outcome.failure]
    case 'release':
      return [outcome.lost ? '1' : '', outcome.maxLosses, '']
    case 'return':
      return ['', '', '']
  }
}

function countsOf(lane: string, figures: readonly number[]): LaneCounts {
  const [high = 0, normal = 0, low = 0, running = 0, scheduled = 0, dead = 0] = figures
  const [workers = 0, submitted = 0, completed = 0, failed = 0, retried = 0, retrying = 0] =
    figures.slice(6)
  const [expired = 0] = figures.slice(12)
  return {
    lane,
    high,
    normal,
    low,
    running,
    scheduled,
    dead,
    workers,
    submitted,
    completed,
    failed,
    retried,
    retrying,
    expired,
  }
}

/** ioredis gives a hash's pairs as an object of Buffers or as a flat list, by version and call. */
function flat(reply: unknown): Buffer[] {
  if (Array.isArray(reply)) return reply as Buffer[]
  return Object.entries(reply as Record<string, Buffer>).flatMap(([name, value]) => [
    Buffer.from(name),
    value,
  ])
}
