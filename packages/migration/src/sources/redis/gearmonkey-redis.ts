import { LaneNames, type Level, usualLevels } from '@crossgear/core-scheduler'
import {
  jobOf,
  RedisStore,
  StoreKeys,
  type ServerAddress,
  type ServerConnection,
} from '@crossgear/redis-store'
import { MigrationError, reaching } from '../../errors.ts'
import { rejectOf } from '../../record/fit.ts'
import { importIdOf } from '../../record/identity.ts'
import {
  isRecord,
  type JobRecord,
  type RecordState,
  type Reject,
  type RejectReason,
} from '../../record/record.ts'
import { type Page, type PageBounds, pageOf } from '../../source.ts'
import { recordOfStanding } from '../../record/stored-job.ts'
import { StoreTarget } from '../../targets/store-target.ts'
import { lanePlacesOf, type LanePlace } from './gearmonkey-places.ts'
import { IdSet } from '../id-set.ts'
import {
  type Member,
  type Place,
  type PlacesOptions,
  PlacesSource,
  type ReadMember,
} from './places-source.ts'
import { type Commands, countIn, otherClients, scanKeys } from './redis-reads.ts'

const limits = [
  'Batches, locks and cron entries of the other store are not read; a job that clients wait for stays.',
  'A job that a worker has (busy) is queued again, and its run may be repeated.',
]

/** GearMonkey's structures in another Redis: a Crossgear store, or native clients' data. */
export class GearmonkeyRedisSource extends PlacesSource {
  readonly #address: ServerAddress
  readonly #keys: StoreKeys
  /** The other store's routes are unknown: a lane names its queue. */
  readonly #names = new LaneNames()
  /** By key. */
  readonly #lanes: ReadonlyMap<string, LanePlace>
  /** Jobs in no place, by record. */
  readonly #left = new WeakMap<JobRecord, JobKey>()
  /** Jobs found in a list or set. */
  readonly #met = new IdSet()

  private constructor(
    redis: ServerConnection,
    keys: StoreKeys,
    { address, ...options }: PlacesOptions & { readonly address: ServerAddress },
    lanes: readonly LanePlace[],
  ) {
    super(redis, options)
    this.#address = address
    this.#keys = keys
    this.#lanes = new Map(lanes.map((lane) => [lane.place.key, lane]))
  }

  static open(
    redis: ServerConnection,
    about: { readonly identity: string; readonly address: ServerAddress },
  ): Promise<GearmonkeyRedisSource> {
    return reaching(about.identity, async () => {
      const isCluster = (await redis.info('cluster')).includes('cluster_enabled:1')
      if (isCluster)
        throw new MigrationError(
          'USAGE',
          'A Redis Cluster cannot be a source: give a single server with --from.',
        )
      const keys = new StoreKeys()
      const clients = await otherClients(redis, true)
      const lanes = await lanePlacesOf(redis, keys)
      const places = lanes.map(({ place }) => place)
      const users = 'database: gateways or native programs run on it'
      const options = { ...about, limits, clients, users, places }
      return new GearmonkeyRedisSource(redis, keys, options, lanes)
    })
  }

  override async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    await reaching(this.identity, () => this.#refuseTarget())
    const scan = after === undefined ? undefined : (JSON.parse(after) as { scan?: string }).scan
    if (scan === undefined) yield* super.pages(after, bounds)
    yield* this.#leftovers(scan ?? '0', bounds)
  }

  override async remove(records: readonly JobRecord[]): Promise<void> {
    await super.remove(records)
    const left = records.filter((record) => this.#left.has(record))
    await reaching(this.identity, async () => {
      const transaction = this.redis.multi()
      for (const record of left) {
        const job = this.#left.get(record)
        if (job) this.#forget(transaction, job, record)
      }
      await transaction.exec()
    })
  }

  /** Done as an import into that store, which keeps notes: a killed rollback can be repeated. */
  override async restore(records: readonly JobRecord[]): Promise<void> {
    const store = new RedisStore(this.#address)
    try {
      await reaching(this.identity, () => store.open())
      const results = await new StoreTarget(store, this.#names, 'restored').store(records)
      const rejected = results.find((result) => result.kind === 'rejected')
      if (rejected)
        throw new MigrationError('UNREACHABLE', `${this.identity}: ${rejected.message}.`)
    } finally {
      await store.close()
    }
  }

  /** A job stored in its own source would be read again. */
  async #refuseTarget(): Promise<void> {
    for (const key of await scanKeys(this.redis, this.#keys.migration('*'))) {
      if ((await this.redis.hget(key, 'source')) !== this.identity) continue
      throw new MigrationError('USAGE', 'The source and the target are the same store.')
    }
  }

  /** Hashes of unfinished jobs in no place: native workers have or had them. */
  async *#leftovers(after: string, bounds: PageBounds): AsyncGenerator<Page> {
    let scan = after
    do {
      const [next, keys] = await reaching(this.identity, () =>
        this.redis.scan(scan, 'MATCH', 'job:*', 'COUNT', bounds.jobs),
      )
      const jobs = keys.flatMap((key) => this.#keys.jobOf(key) ?? [])
      const found = await reaching(this.identity, () => this.#unfinished(jobs))
      for (let first = 0; first < found.length;) {
        const sizes = found.slice(first).map(({ bytes }) => bytes)
        const some = found.slice(first, first + countIn(sizes, bounds.bytes))
        first += some.length
        const results = await reaching(this.identity, () =>
          Promise.all(some.map((job) => this.#recordOf(job, { state: job.state }))),
        )
        for (const [at, result] of results.entries()) {
          const job = some[at]
          if (job && isRecord(result)) this.#left.set(result, job)
        }
        // Keys scanned with these come again if the run ends before all are stored.
        yield pageOf(results, JSON.stringify({ scan }))
      }
      scan = next
    } while (scan !== '0')
  }

  /** Unfinished jobs that were not found. */
  async #unfinished(jobs: readonly JobKey[]): Promise<readonly Leftover[]> {
    const unmet = jobs.filter(({ lane, id }) => !this.#met.has(lane, id))
    const found = unmet.map(async ({ lane, id }): Promise<readonly Leftover[]> => {
      const key = this.#keys.job(lane, id)
      const type = await this.redis.type(key)
      if (type !== 'hash') return []
      const [status, bytes] = await Promise.all([
        this.redis.hget(key, 'status'),
        this.redis.hstrlen(key, 'input'),
      ])
      const state = stateOf[status ?? '']
      return state ? [{ lane, id, state, bytes }] : []
    })
    return (await Promise.all(found)).flat()
  }

  protected override onRemove(commands: Commands, { place, member, record }: ReadMember): void {
    const lane = this.#lanes.get(place.key)?.lane ?? ''
    this.#forget(commands, { lane, id: Number(member.raw.toString()) }, record)
  }

  protected override sizesOf(place: Place, members: readonly Member[]) {
    const lane = this.#lanes.get(place.key)?.lane ?? ''
    return Promise.all(
      members.map(({ raw }) => this.redis.hstrlen(this.#keys.job(lane, raw.toString()), 'input')),
    )
  }

  protected recordsOf(place: Place, members: readonly Member[]) {
    const { lane = '', level } = this.#lanes.get(place.key) ?? {}
    return Promise.all(
      members.map(({ raw, score = 0 }) => {
        const id = Number(raw.toString())
        this.#met.add(lane, id)
        return this.#recordOf(
          { lane, id },
          {
            state: place.state,
            ...(level !== undefined && { level }),
            ...(place.state === 'scheduled' && { dueAtMs: Math.round(score * 1000) }),
            ...(place.state === 'dead' && { forgetAtMs: score }),
          },
        )
      }),
    )
  }

  async #recordOf(
    { lane, id }: JobKey,
    { level, ...place }: JobPlace,
  ): Promise<JobRecord | Reject> {
    const key = this.#keys.job(lane, id)
    const hash = await this.redis.hgetallBuffer(key)
    const pairs = Object.entries(hash).flatMap(([name, value]) => [Buffer.from(name), value])
    const job = jobOf(lane, id, pairs)
    const reject = (reason: RejectReason, fault: string): Reject =>
      rejectOf(reason, key, `${key} ${fault}`, hash['input'])
    if (!job) return reject('bad_job', 'is no job: it has no status')
    const { state } = place
    if (job.foreground && state !== 'dead') return reject('foreground', 'has a waiting client')
    const staleAtMs = Number(hash['stale']?.toString() ?? NaN)
    const importId = importIdOf(this.identity, lane, String(id), job.input)
    return {
      ...recordOfStanding({ job }, importId, this.#names),
      ...place,
      // Native programs give the level by the list alone.
      ...(level !== undefined && !hash['level'] && { level }),
      state: state === 'scheduled' && job.failure !== undefined ? 'retry' : state,
      ...(!Number.isNaN(staleAtMs) && { staleAtMs }),
      // The entry of the job in the index of unique keys.
      ...(job.unique && { sourceKey: job.unique }),
    }
  }

  /** Removes a job from the other structures of its lane. */
  #forget(commands: Commands, { lane, id }: JobKey, record: JobRecord): void {
    const { state, sourceKey, jid, level } = record
    commands.unlink(this.#keys.job(lane, id))
    commands.zrem(this.#keys.retries(lane), id).zrem(this.#keys.bridged(lane), id)
    if (sourceKey && state !== 'dead') commands.hdel(this.#keys.unique(lane), sourceKey)
    if (jid !== undefined) commands.hdel(this.#keys.jids(), jid)
    if (state === 'queued' && !usualLevels.includes(level)) {
      commands.hincrby(this.#keys.meta(lane), `lv${level}`, -1)
    }
  }
}

interface JobKey {
  readonly lane: string
  readonly id: number
}

/** The place of a job, and its level if it has none of its own. */
type JobPlace = Pick<JobRecord, 'state' | 'dueAtMs' | 'forgetAtMs'> & { readonly level?: Level }

/** A job in no place. */
interface Leftover extends JobKey {
  readonly state: RecordState
  readonly bytes: number
}

/** State of a job in no place, by its status. */
const stateOf: Partial<Record<string, RecordState>> = { busy: 'working', idle: 'queued' }
