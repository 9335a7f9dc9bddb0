import {
  defaultLevel,
  holderOf,
  type Door,
  type Job,
  type JobState,
  type LookExtra,
  type Level,
  type NewJob,
  type Reservation,
  type Status,
} from '@crossgear/core-scheduler'
import type { ScriptArgument } from './scripts.ts'

/** Puts the fields of a job's hash beside the GearMonkey spec's, as pairs for HSET, behind other arguments. */
export function addFields(args: ScriptArgument[], job: NewJob): void {
  args.push('input', job.input, 'door', job.door)
  if (job.level !== 5) args.push('level', String(job.level))
  if (job.unique) args.push('unique', job.unique)
  if (job.reducer) args.push('reducer', job.reducer)
  if (job.jid !== undefined) args.push('jid', job.jid)
  if (job.envelope !== undefined) args.push('envelope', job.envelope)
  if (job.retries !== undefined) args.push('retries', String(job.retries))
  if (job.reserveForSeconds !== undefined) args.push('reserve_for', String(job.reserveForSeconds))
  if (job.retentionSeconds) args.push('keep', String(job.retentionSeconds))
  if (job.staleAtMs !== undefined) args.push('stale', String(job.staleAtMs))
  if (job.lock) args.push('once', job.lock.key)
  if (job.lock?.until === 'start') args.push('once_until', 'start')
  if (job.batch !== undefined) args.push('bid', job.batch)
}

const empty = Buffer.alloc(0)

type Draft = { -readonly [Name in keyof Reservation]?: Reservation[Name] }

/** What each field of a job's hash says of the job. */
const readers: ReadonlyMap<string, (job: Draft, value: Buffer) => void> = new Map([
  ['status', (job, value) => void (job.status = value.toString('latin1') as Status)],
  ['enqueued', (job, value) => void (job.enqueuedAtMs = numberOf(value))],
  ['input', (job, value) => void (job.input = value)],
  ['door', (job, value) => void (job.door = value.toString('latin1') as Door)],
  ['level', (job, value) => void (job.level = levelOf(value))],
  ['wait', (job, value) => void (job.waiting = clientsOf(value.toString('latin1')))],
  ['losses', (job, value) => void (job.losses = numberOf(value))],
  ['fg', (job) => void (job.foreground = true)],
  ['settled', (job) => void (job.settled = true)],
  ['thrown', (job) => void (job.thrown = true)],
  ['output', (job, value) => void (job.output = value)],
  ['unique', (job, value) => void (job.unique = value)],
  ['reducer', (job, value) => void (job.reducer = value)],
  ['jid', (job, value) => void (job.jid = value.toString())],
  ['envelope', (job, value) => void (job.envelope = value.toString())],
  ['failure', (job, value) => void (job.failure = value.toString())],
  ['retries', (job, value) => void (job.retries = numberOf(value))],
  ['keep', (job, value) => void (job.retentionSeconds = numberOf(value))],
  ['reserve_for', (job, value) => void (job.reserveForSeconds = numberOf(value))],
  ['status:dividend', (job, value) => void (job.dividend = value)],
  ['status:divisor', (job, value) => void (job.divisor = value)],
  ['token', (job, value) => void (job.token = value.toString('latin1'))],
  ['note', (job, value) => void (job.note = value.toString())],
  ['noted', (job, value) => void (job.notedAtMs = numberOf(value))],
])

/** Fields of any length. */
export const longFields: readonly string[] = ['input', 'envelope', 'output']
/** Read by every look. */
const shortFields = [...readers.keys()].filter((name) => !longFields.includes(name))

/** The fields of a job's hash that a look reads first: an output is there to be read when the job has ended. */
export function lookedAtFields(extras: readonly LookExtra[]): readonly string[] {
  return extras.includes('envelope') ? [...shortFields, 'envelope'] : shortFields
}

/** A job from the values of such fields; undefined where the hash has no `status`. */
export function stateOf(
  lane: string,
  id: number,
  names: readonly string[],
  values: readonly (Buffer | null)[],
): JobState | undefined {
  const draft = emptyDraft(lane, id)
  for (const [at, name] of names.entries()) {
    const value = values[at]
    if (value) readers.get(name)?.(draft, value)
  }
  return draft.status === undefined ? undefined : (draft as JobState)
}

/** Another program may have a field of that name for something else. */
function levelOf(value: Buffer): Level {
  const text = value.toString('latin1')
  return /^[1-9]$/.test(text) ? (Number(text) as Level) : defaultLevel
}

function numberOf(value: Buffer): number {
  return Number(value.toString('latin1'))
}

/** A job from the field-value pairs of its hash; undefined where the hash has no `status`. */
export function jobOf(lane: string, id: number, pairs: readonly Buffer[]): Job | undefined {
  return draftOf(lane, id, pairs) as Job | undefined
}

function emptyDraft(lane: string, id: number): Draft {
  return {
    lane,
    id,
    door: 'native',
    level: 5,
    losses: 0,
    settled: false,
    foreground: false,
    waiting: 0,
  }
}

function draftOf(lane: string, id: number, pairs: readonly Buffer[]): Draft | undefined {
  const job: Draft = { ...emptyDraft(lane, id), input: empty }
  for (let at = 1; at < pairs.length; at += 2) {
    const name = pairs[at - 1]
    const value = pairs[at]
    if (name && value) readers.get(name.toString('latin1'))?.(job, value)
  }
  return job.status === undefined ? undefined : job
}

/** `node,node=clients`, see `lua/lib/waits.lua`. */
function clientsOf(waiting: string): number {
  if (waiting === '') return 0
  if (!waiting.includes(',') && !waiting.includes('=')) return 1
  return waiting.split(',').reduce((sum, node) => sum + Number(node.split('=')[1] ?? 1), 0)
}

/** The claim script's reply, flat per job: lane, id, token, fields and values of its hash. */
export type ReservedReply = readonly (Buffer | (Buffer | false)[])[]

/**
 * Reservations from a script's reply. `beside`: values that stand beside it, false in their places. `nowMs` (the
 * store's clock) tells how long they were queued.
 */
export function reservationsOf(
  reply: ReservedReply,
  beside: readonly Buffer[],
  nowMs: number,
): Reservation[] {
  const found: Reservation[] = []
  let next = 0
  for (let at = 0; at + 3 < reply.length; at += 4) {
    const pairs = reply[at + 3] as (Buffer | false)[]
    if (next < beside.length) {
      for (let place = 0; place < pairs.length; place += 1) {
        if (pairs[place] === false) pairs[place] = beside[next++] ?? empty
      }
    }
    const lane = String(reply[at])
    const job = draftOf(lane, Number(String(reply[at + 1])), pairs as Buffer[])
    if (!job) throw new Error(`job ${String(reply[at + 1])} of ${lane} has no status`)
    const token = String(reply[at + 2])
    job.token = token
    job.heldBy = holderOf(token)
    if (job.enqueuedAtMs !== undefined) job.waitedMs = Math.max(0, nowMs - job.enqueuedAtMs)
    found.push(job as Reservation)
  }
  return found
}
