import { FwpError, scanFields } from '@crossgear/fwp-codec'
import type { ServerConnection } from '@crossgear/redis-store'
import { reaching } from '../../errors.ts'
import { faktoryOfRecord, recordOfFaktory } from '../../record/faktory-job.ts'
import { rejectOf } from '../../record/fit.ts'
import type { JobPlace, JobRecord, RecordState, Reject } from '../../record/record.ts'
import { type Member, type Place, type PlacesOptions, PlacesSource } from './places-source.ts'
import { type Commands, otherClients, scanKeys } from './redis-reads.ts'

const limits = [
  'Locks (unique_for) and batches of Faktory Enterprise are not read: their jobs come without them.',
  'A job that a worker has (working) is queued again, and its run may be repeated.',
]

/** Faktory's retention of dead jobs. */
const deadForMs = 180 * 24 * 3_600_000

const sets: readonly Place[] = [
  { key: 'scheduled', type: 'zset', state: 'scheduled' },
  { key: 'retries', type: 'zset', state: 'retry' },
  { key: 'dead', type: 'zset', state: 'dead' },
  { key: 'working', type: 'zset', state: 'working' },
]

/** Sorted sets for returned jobs; jobs of other states are queued. */
const setOf: Partial<Record<RecordState, string>> = {
  scheduled: 'scheduled',
  retry: 'retries',
  dead: 'dead',
}

/** The Redis of a Faktory server: its queues (up to 1.9 and from 1.10), and its sets. */
export class FaktoryRedisSource extends PlacesSource {
  /** Up to 1.9 the lists have the names of their queues. */
  readonly #isOld: boolean

  private constructor(redis: ServerConnection, options: PlacesOptions) {
    super(redis, options)
    const lists = options.places.filter(({ type }) => type === 'list')
    this.#isOld = lists.some(({ key }) => !key.startsWith('q:'))
  }

  static open(redis: ServerConnection, identity: string): Promise<FaktoryRedisSource> {
    return reaching(identity, async () => {
      const clients = await otherClients(redis)
      const places = await placesOf(redis)
      const users = 'Redis: a Faktory server runs on it'
      return new FaktoryRedisSource(redis, { identity, limits, clients, users, places })
    })
  }

  protected override putBack(commands: Commands, record: JobRecord): void {
    const { state, dueAtMs = Date.now(), queue = 'default' } = record
    const { forgetAtMs = Date.now() + deadForMs } = record
    const text = faktoryOfRecord(record, queue)
    const set = setOf[state]
    const score = (state === 'dead' ? forgetAtMs : dueAtMs) / 1000
    if (set !== undefined) commands.zadd(set, score, text)
    else commands.sadd('queues', queue).lpush(this.#isOld ? queue : `q:${queue}`, text)
  }

  protected recordsOf(place: Place, members: readonly Member[]) {
    return members.map((member) => recordOf(place, member, this.identity))
  }
}

function recordOf(
  { key, state }: Place,
  { raw, score = 0 }: Member,
  identity: string,
): JobRecord | Reject {
  const ms = Math.round(score * 1000)
  const place: JobPlace = {
    state,
    where: key,
    ...((state === 'scheduled' || state === 'retry') && { dueAtMs: ms }),
    ...(state === 'dead' && { forgetAtMs: ms }),
  }
  if (state !== 'working') return recordOfFaktory(raw, place, identity)
  const job = jobOfWorking(raw)
  if (job) return recordOfFaktory(job, place, identity)
  return rejectOf('bad_job', key, 'a member of working has no job', raw)
}

/** The job's bytes in `{"job":{...},"reserved_at",...}`; its numbers must not change. */
function jobOfWorking(raw: Buffer): Buffer | undefined {
  try {
    const job = scanFields(raw.toString()).get('job')
    return job && Buffer.from(job.value)
  } catch (error) {
    if (error instanceof FwpError) return undefined
    throw error
  }
}

async function placesOf(redis: ServerConnection): Promise<readonly Place[]> {
  const named = (await redis.smembers('queues')).flatMap((queue) => [`q:${queue}`, queue])
  const found = await scanKeys(redis, 'q:*')
  const keys = [...new Set([...named, ...found])].sort()
  const types = await Promise.all(keys.map((key) => redis.type(key)))
  const lists = keys.filter((_key, at) => types[at] === 'list')
  return [...lists.map((key) => ({ key, type: 'list', state: 'queued' }) as const), ...sets]
}
