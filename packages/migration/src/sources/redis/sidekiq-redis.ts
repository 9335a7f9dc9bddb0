import type { ServerConnection } from '@crossgear/redis-store'
import { reaching } from '../../errors.ts'
import {
  classAndArgs,
  failureText,
  objectOf,
  queuedOfRecord,
  readQueued,
  recordOfQueued,
  textOf,
  type RawFields,
} from '../../record/queued-job.ts'
import type { JobPlace, JobRecord, RecordState, Reject } from '../../record/record.ts'
import { type Member, type Place, type PlacesOptions, PlacesSource } from './places-source.ts'
import { type Commands, otherClients } from './redis-reads.ts'

const limits = [
  'Jobs that Sidekiq is running are not in its queues: stop it first, then it puts them back.',
  'Batches, unique locks and expiry of Sidekiq Pro and Enterprise have no counterpart: their jobs come without them.',
]

/** Sidekiq's retries for a job with `true`, or without a number. */
const defaultRetries = 25
/** Sidekiq's retention of dead jobs. */
const deadForMs = 180 * 24 * 3_600_000
/** From here on a time is in milliseconds (Sidekiq 8), below it in seconds. */
const minMs = 100_000_000_000

const setOf: Partial<Record<RecordState, string>> = {
  scheduled: 'schedule',
  retry: 'retry',
  dead: 'dead',
}

/** Sidekiq's Redis: the lists of its queues, the oldest at the right, and its sorted sets. */
export class SidekiqRedisSource extends PlacesSource {
  readonly #prefix: string

  private constructor(redis: ServerConnection, prefix: string, options: PlacesOptions) {
    super(redis, options)
    this.#prefix = prefix
  }

  /** `namespace`: of the gem redis-namespace; empty: none. */
  static open(
    redis: ServerConnection,
    { identity, namespace }: { readonly identity: string; readonly namespace: string },
  ): Promise<SidekiqRedisSource> {
    return reaching(identity, async () => {
      const prefix = namespace === '' ? '' : `${namespace}:`
      const clients = await otherClients(redis)
      const queues = (await redis.smembers(`${prefix}queues`)).sort()
      const places: Place[] = queues.map((queue) => {
        return { key: `${prefix}queue:${queue}`, type: 'list', state: 'queued', queue }
      })
      for (const [state, set] of Object.entries(setOf)) {
        places.push({ key: `${prefix}${set}`, type: 'zset', state: state as RecordState })
      }
      const users = 'Redis: Sidekiq or its clients run on it'
      return new SidekiqRedisSource(redis, prefix, { identity, limits, clients, users, places })
    })
  }

  protected override putBack(commands: Commands, record: JobRecord): void {
    const { state, dueAtMs = Date.now(), forgetAtMs = Date.now() + deadForMs } = record
    const { args, original } = queuedOfRecord(record, 'sidekiq')
    const text = objectOf(original, { args })
    const queue = textOf(original.get('queue')) ?? record.queue ?? 'default'
    const set = setOf[state]
    const score = (state === 'dead' ? forgetAtMs - deadForMs : dueAtMs) / 1000
    if (set !== undefined) commands.zadd(`${this.#prefix}${set}`, score, text)
    else {
      commands.sadd(`${this.#prefix}queues`, queue)
      commands.lpush(`${this.#prefix}queue:${queue}`, text)
    }
  }

  protected recordsOf(place: Place, members: readonly Member[]) {
    return members.map((member) => recordOf(place, member, this.identity))
  }
}

function recordOf(
  { key, state, queue = 'default' }: Place,
  { raw, score = 0 }: Member,
  identity: string,
): JobRecord | Reject {
  const atMs = Math.round(score * 1000)
  const isTimed = state === 'scheduled' || state === 'retry'
  const place: JobPlace = {
    state,
    where: key,
    ...(isTimed && { dueAtMs: atMs }),
    ...(state === 'dead' && { forgetAtMs: atMs + deadForMs }),
  }
  return readQueued(raw, key, (fields) => {
    const work = classAndArgs(fields)
    const jid = textOf(fields.get('jid'))
    if (typeof work === 'string') return work
    const { jobtype, args } = work
    const createdAtMs = timeOf(fields.get('created_at'))
    const retries = retriesOf(fields)
    const failure = failureOf(fields, retries)
    const job = {
      system: 'sidekiq' as const,
      jobtype,
      args,
      retries,
      // A job that moves between two looks is still the same.
      parts: [jid ?? '', jobtype, fields.get('created_at') ?? '', args],
      queue: textOf(fields.get('queue')) ?? queue,
      original: objectOf(fields, { args: 'null' }),
      ...(jid !== undefined && { jid }),
      ...(createdAtMs !== undefined && { createdAtMs }),
      ...(failure !== undefined && { failure }),
    }
    return recordOfQueued(job, place, identity)
  })
}

/** `retry` as Faktory counts it. */
function retriesOf(fields: RawFields): number {
  const raw = fields.get('retry') ?? 'true'
  const isBuried = fields.get('dead') !== 'false'
  if (raw === 'false') return 0
  if (!/^\d{1,9}$/.test(raw)) return defaultRetries
  return raw === '0' && isBuried ? -1 : Number(raw)
}

/** Sidekiq's fields of the last failure as Faktory's `failure`. */
function failureOf(fields: RawFields, retries: number): string | undefined {
  const raw = fields.get('retry_count') ?? ''
  if (!/^\d{1,9}$/.test(raw)) return undefined
  return failureText({
    retryCount: Number(raw),
    retries,
    failedAtMs: timeOf(fields.get('retried_at')) ?? timeOf(fields.get('failed_at')),
    message: textOf(fields.get('error_message')) ?? '',
    errtype: textOf(fields.get('error_class')) ?? 'unknown',
  })
}

function timeOf(raw: string | undefined): number | undefined {
  if (raw === undefined || !/^\d+(\.\d+)?$/.test(raw)) return undefined
  const value = Number(raw)
  const ms = value >= minMs ? value : value * 1000
  return ms < 253_402_300_800_000 ? ms : undefined
}
