import { isUtf8 } from 'node:buffer'
import { defaultLevel, type Level } from '@crossgear/core-scheduler'
import { FwpError, scanArray, scanObject } from '@crossgear/fwp-codec'
import type { ServerConnection } from '@crossgear/redis-store'
import { reaching } from '../../errors.ts'
import { rejectOf } from '../../record/fit.ts'
import {
  failureText,
  objectOf,
  queuedOfRecord,
  recordOfQueued,
  textOf,
  type RawFields,
} from '../../record/queued-job.ts'
import type { JobRecord, Reject, RejectReason } from '../../record/record.ts'
import {
  type Member,
  type Place,
  type PlacesOptions,
  PlacesSource,
  type ReadMember,
  type Result,
} from './places-source.ts'
import { type Commands, escapedPattern, otherClients, scanKeys } from './redis-reads.ts'

const limits = [
  'Jobs of flows and of job schedulers stay; backoff, rate limits and what keeps ids apart are not read.',
  'A job that a worker has (active) is queued again, and its run may be repeated.',
]

/** Structures of a queue in reading order. */
const structures: readonly (Pick<Place, 'type' | 'state'> & { readonly name: string })[] = [
  { name: 'active', type: 'list', state: 'working' },
  { name: 'wait', type: 'list', state: 'queued' },
  { name: 'paused', type: 'list', state: 'queued' },
  { name: 'prioritized', type: 'zset', state: 'queued' },
  { name: 'delayed', type: 'zset', state: 'scheduled' },
  { name: 'failed', type: 'zset', state: 'dead' },
  { name: 'waiting-children', type: 'zset', state: 'queued' },
]

/** Keys of a job that extend its hash's name. */
const nextToHash = ['logs', 'dependencies', 'processed', 'failed', 'unsuccessful']
/** A delayed job's score is its time in milliseconds times this, plus a number. */
const scorePerMs = 4096
/** Most traces of earlier failures that are read. */
const maxStacks = 10_000
/** Levels of priorities 1, 2, 3 and above; jobs without one come first and have level 5. */
const levels: readonly Level[] = [5, 4, 3, 2, 1]

/** BullMQ's Redis: per queue lists and sorted sets of ids, and a hash for each job. */
export class BullmqRedisSource extends PlacesSource {
  readonly #prefix: string

  private constructor(redis: ServerConnection, prefix: string, options: PlacesOptions) {
    super(redis, options)
    this.#prefix = prefix
  }

  static open(
    redis: ServerConnection,
    { identity, prefix }: { readonly identity: string; readonly prefix: string },
  ): Promise<BullmqRedisSource> {
    return reaching(identity, async () => {
      const clients = await otherClients(redis)
      const start = `${prefix}:`
      const keys = await scanKeys(redis, `${escapedPattern(start)}*:meta`)
      const queues = keys.map((key) => key.slice(start.length, -':meta'.length)).sort()
      const places = queues.flatMap((queue) =>
        structures.map(({ name, ...of }) => ({ ...of, queue, key: `${start}${queue}:${name}` })),
      )
      const users = 'Redis: queues or workers of BullMQ run on it'
      return new BullmqRedisSource(redis, start, { identity, limits, clients, users, places })
    })
  }

  #keyOf(queue: string, name: string): string {
    return `${this.#prefix}${queue}:${name}`
  }

  protected override onRemove(commands: Commands, { place, member }: ReadMember): void {
    const key = this.#keyOf(place.queue ?? '', member.raw.toString())
    commands.unlink(key, ...nextToHash.map((name) => `${key}:${name}`))
  }

  protected override putBack(commands: Commands, record: JobRecord): void {
    const { args, original } = queuedOfRecord(record, 'bullmq')
    const { id = '', queue = '', place = 'wait', score, ...fields } = fieldsOf(original)
    const [data = 'null'] = scanArray(args, 1)
    commands.hset(this.#keyOf(queue, id), { ...fields, data })
    const isSet = score !== undefined && (place !== 'failed' || record.state === 'dead')
    if (isSet) commands.zadd(this.#keyOf(queue, place), score, id)
    else commands.lpush(this.#keyOf(queue, place === 'paused' ? 'paused' : 'wait'), id)
  }

  protected override sizesOf({ queue = '' }: Place, members: readonly Member[]) {
    const keys = members.map(({ raw }) => this.#keyOf(queue, raw.toString()))
    return Promise.all(keys.map((key) => this.redis.hstrlen(key, 'data')))
  }

  protected recordsOf(place: Place, members: readonly Member[]): Promise<readonly Result[]> {
    const { queue = '' } = place
    // Versions up to 4 keep a marker among the ids.
    const found = members.map(async (member) => {
      const id = member.raw.toString()
      if (id.startsWith('0:')) return undefined
      const hash = await this.redis.hgetallBuffer(this.#keyOf(queue, id))
      return this.#recordOf(place, { ...member, id }, hash)
    })
    return Promise.all(found)
  }

  #recordOf(
    place: Place,
    member: Member & { readonly id: string },
    hash: Hash,
  ): JobRecord | Reject {
    const reject = (reason: RejectReason, fault: string): Reject => {
      const message = `the job ${member.id} of ${place.key} ${fault}`
      return rejectOf(reason, `${place.key} ${member.id}`, message, hash['data'] ?? member.raw)
    }
    const left = leftThere.find(({ isIt }) => isIt(place, hash))
    if (left) return reject('not_read', `stays: ${left.reason}`)
    if (!hash['name'] || !hash['data'])
      return reject('bad_job', 'is no job: it has no name or data')
    if (!Object.values(hash).every((value) => isUtf8(value))) {
      return reject('bad_job', 'is no job: it is no UTF-8')
    }
    try {
      const texts = Object.entries(hash).map(([name, value]) => [name, value.toString()] as const)
      return recordOf(place, member, new Map(texts), this.identity)
    } catch (error) {
      if (error instanceof FwpError) return reject('bad_job', `is no job: ${error.message}`)
      throw error
    }
  }
}

type Hash = Readonly<Record<string, Buffer>>

/** Jobs that stay, and why. */
const leftThere: readonly {
  readonly isIt: (place: Place, hash: Hash) => boolean
  readonly reason: string
}[] = [
  {
    isIt: ({ key }) => key.endsWith(':waiting-children'),
    reason: 'it waits for its children',
  },
  { isIt: (_place, hash) => 'parentKey' in hash, reason: 'it belongs to a flow' },
  { isIt: (_place, hash) => 'rjk' in hash, reason: 'a job scheduler makes it' },
]

/** Throws an FwpError for invalid JSON. */
function recordOf(
  { key, state, queue = '' }: Place,
  { id, score }: Member & { readonly id: string },
  hash: ReadonlyMap<string, string>,
  identity: string,
): JobRecord {
  const data = hash.get('data') ?? ''
  const args = `[${data}]`
  if (scanArray(args, 2).length !== 1) throw new FwpError('INVALID_JSON', 'its data is no JSON')
  const opts = scanObject(hash.get('opts') ?? '{}')
  const retries = retriesOf(opts)
  const failure = failureOf(hash, retries)
  const createdAtMs = numberOf(hash.get('timestamp'))
  const jobtype = hash.get('name') ?? ''
  const isTimed = state === 'scheduled'
  const place = {
    where: key,
    state: isTimed && failure !== undefined ? ('retry' as const) : state,
    ...(isTimed && { dueAtMs: Math.floor((score ?? 0) / scorePerMs) }),
  }
  const priority = numberOf(hash.get('priority')) ?? 0
  const job = {
    system: 'bullmq' as const,
    jobtype,
    queue,
    args,
    retries,
    level: levels[Math.min(priority, levels.length - 1)] ?? defaultLevel,
    parts: [queue, id, hash.get('timestamp') ?? '', jobtype],
    original: originalOf(hash, {
      id,
      queue,
      place: key.slice(key.lastIndexOf(':') + 1),
      ...(score !== undefined && { score: String(score) }),
    }),
    ...(createdAtMs !== undefined && { createdAtMs }),
    ...(failure !== undefined && { failure }),
  }
  return recordOfQueued(job, place, identity)
}

/** The hash without its data, and the job's place, as a JSON object. Options are JSON already. */
function originalOf(
  hash: ReadonlyMap<string, string>,
  place: Readonly<Record<string, string>>,
): string {
  const fields = new Map([...hash, ...Object.entries(place)])
  fields.delete('data')
  const raw = Array.from(fields, ([name, value]) => {
    return [name, name === 'opts' ? value : JSON.stringify(value)] as const
  })
  return objectOf(new Map(raw))
}

/** The inverse of {@link originalOf}. */
function fieldsOf(original: RawFields): Readonly<Partial<Record<string, string>>> {
  return Object.fromEntries(Array.from(original, ([name, raw]) => [name, textOf(raw) ?? raw]))
}

/** `attempts` counts all runs. */
function retriesOf(opts: RawFields): number {
  const attempts = numberOf(opts.get('attempts')) ?? 1
  return attempts > 1 ? attempts - 1 : -1
}

/** The last failure as Faktory's `failure`; undefined for a job that did not fail. */
function failureOf(hash: ReadonlyMap<string, string>, retries: number): string | undefined {
  const message = hash.get('failedReason')
  const made = numberOf(hash.get('atm') ?? hash.get('attemptsMade')) ?? 0
  if (message === undefined || made === 0) return undefined
  const stack = scanArray(hash.get('stacktrace') ?? '[]', maxStacks).at(-1)
  const [first = '', ...lines] = (textOf(stack) ?? '').split('\n')
  return failureText({
    retryCount: made - 1,
    retries,
    message,
    failedAtMs: numberOf(hash.get('finishedOn') ?? hash.get('processedOn')),
    errtype: /^[\w$.]+(?=:|$)/.exec(first)?.[0] ?? 'Error',
    ...(lines.length > 0 && { backtrace: lines.map((line) => line.trim()) }),
  })
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
