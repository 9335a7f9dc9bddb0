import { scanObject } from '@crossgear/fwp-codec'
import type { ServerConnection } from '@crossgear/redis-store'
import { reaching } from '../../errors.ts'
import {
  classAndArgs,
  failureText,
  isArray,
  objectOf,
  queuedOfRecord,
  readQueued,
  recordOfQueued,
  textOf,
  type LeftThere,
  type RawFields,
} from '../../record/queued-job.ts'
import type { JobPlace, JobRecord } from '../../record/record.ts'
import { Copies } from '../copies.ts'
import {
  type Member,
  type Place,
  type PlacesOptions,
  PlacesSource,
  type ReadMember,
} from './places-source.ts'
import { type Commands, otherClients } from './redis-reads.ts'

const limits = [
  'Jobs that workers are running are not read: let the workers end first (QUIT).',
  'Locks and retries that plugins keep are not read: a job that fails is dead at once, as in Resque.',
]

/** A failed job is only retried by hand. */
const retries = -1

/**
 * Resque's Redis: its queues' lists and `failed`, the oldest at the left, and resque-scheduler's
 * lists. Its jobs have no ids, and several may be equal.
 */
export class ResqueRedisSource extends PlacesSource {
  readonly #prefix: string
  readonly #copies: Copies

  private constructor(redis: ServerConnection, prefix: string, options: PlacesOptions) {
    super(redis, options)
    this.#prefix = prefix
    this.#copies = new Copies(redis)
  }

  static open(
    redis: ServerConnection,
    { identity, namespace }: { readonly identity: string; readonly namespace: string },
  ): Promise<ResqueRedisSource> {
    return reaching(identity, async () => {
      const prefix = `${namespace}:`
      const clients = await otherClients(redis)
      const places = await placesOf(redis, prefix)
      const users = 'Redis: Resque or its clients run on it'
      return new ResqueRedisSource(redis, prefix, { identity, limits, clients, users, places })
    })
  }

  override async remove(records: readonly JobRecord[]): Promise<void> {
    await super.remove(records)
    const times = new Set(records.flatMap(({ state, dueAtMs }) => timeOf(state, dueAtMs) ?? []))
    await reaching(this.identity, async () => {
      for (const time of times) {
        if ((await this.redis.llen(this.#delayed(time))) > 0) continue
        await this.redis.zrem(`${this.#prefix}delayed_queue_schedule`, time)
      }
    })
  }

  protected override onPlace({ key }: Place, offset: number): Promise<void> {
    return this.#copies.count(key, offset)
  }

  protected recordsOf(place: Place, members: readonly Member[]) {
    const { identity } = this
    return members.map(({ raw }) =>
      readQueued(raw, place.key, (fields) => {
        const found = { identity, text: raw.toString(), copy: this.#copies.next(raw) }
        return recordOf(place, fields, found)
      }),
    )
  }

  protected override putBack(commands: Commands, record: JobRecord): void {
    const { args, original } = queuedOfRecord(record, 'resque')
    const payload = original.get('payload')
    const text = objectOf(payload === undefined ? original : scanObject(payload), { args })
    const queue = textOf(original.get('queue')) ?? record.queue ?? 'default'
    const time = timeOf(record.state, record.dueAtMs)
    if (record.state === 'dead') {
      commands.rpush(`${this.#prefix}failed`, objectOf(original, { payload: text }))
    } else if (time === undefined) {
      commands.sadd(`${this.#prefix}queues`, queue)
      commands.rpush(`${this.#prefix}queue:${queue}`, text)
    } else {
      commands.rpush(this.#delayed(time), text)
      commands.sadd(`${this.#prefix}timestamps:${text}`, `delayed:${time}`)
      commands.zadd(`${this.#prefix}delayed_queue_schedule`, time, time)
    }
  }

  #delayed(time: string): string {
    return `${this.#prefix}delayed:${time}`
  }

  /** resque-scheduler notes a job's due times. */
  protected override onRemove(
    commands: Commands,
    { place: { key, state }, member }: ReadMember,
  ): void {
    if (state !== 'scheduled') return
    const timestamps = Buffer.concat([Buffer.from(`${this.#prefix}timestamps:`), member.raw])
    commands.srem(timestamps, key.slice(this.#prefix.length))
  }
}

/** The name of the list of a scheduled job: seconds since 1970. */
function timeOf(state: JobRecord['state'], dueAtMs: number | undefined): string | undefined {
  return state === 'scheduled' ? String(Math.ceil((dueAtMs ?? 0) / 1000)) : undefined
}

async function placesOf(redis: ServerConnection, prefix: string): Promise<readonly Place[]> {
  const list = { type: 'list', oldest: 'left' } as const
  const queues = (await redis.smembers(`${prefix}queues`)).sort()
  const times = await redis.zrange(`${prefix}delayed_queue_schedule`, 0, '-1')
  return [
    ...queues.map(
      (queue) => ({ ...list, key: `${prefix}queue:${queue}`, state: 'queued', queue }) as const,
    ),
    ...times.map(
      (time) => ({ ...list, key: `${prefix}delayed:${time}`, state: 'scheduled' }) as const,
    ),
    { ...list, key: `${prefix}failed`, state: 'dead' },
  ]
}

interface Found {
  readonly identity: string
  readonly text: string
  /** Equal members behind it. */
  readonly copy: number
}

/** A text is the error. */
function recordOf(
  { key, state, queue }: Place,
  fields: RawFields,
  found: Found,
): JobRecord | LeftThere | string {
  if (fields.has('retried_at')) return { reason: 'it was tried again since' }
  const payload = state === 'dead' ? scanObject(fields.get('payload') ?? '{}') : fields
  const work = classAndArgs(payload)
  const home = queue ?? textOf(fields.get('queue'))
  if (typeof work === 'string') return work
  if (home === undefined) return 'it names no queue'
  const kept = objectOf(payload, { args: 'null' })
  const place: JobPlace = {
    state,
    where: key,
    ...(state === 'scheduled' && { dueAtMs: Number(key.slice(key.lastIndexOf(':') + 1)) * 1000 }),
  }
  const job = {
    system: 'resque' as const,
    ...work,
    retries,
    queue: home,
    parts: [key, found.text, String(found.copy)],
    original: state === 'dead' ? objectOf(fields, { payload: kept }) : kept,
    ...(state === 'dead' && { failure: failureOf(fields) }),
  }
  return recordOfQueued(job, place, found.identity)
}

/** An entry of `failed` as Faktory's `failure`. */
function failureOf(fields: RawFields): string {
  const failedAtMs = Date.parse(textOf(fields.get('failed_at')) ?? '')
  const backtrace = fields.get('backtrace')
  return failureText({
    retryCount: 0,
    retries,
    failedAtMs: Number.isNaN(failedAtMs) ? undefined : failedAtMs,
    message: textOf(fields.get('error')) ?? '',
    errtype: textOf(fields.get('exception')) ?? 'unknown',
    ...(isArray(backtrace) && { backtrace: JSON.parse(backtrace) as unknown }),
  })
}
