import type {
  ClaimBy,
  Door,
  Job,
  Level,
  NewJob,
  Reservation,
  Status,
} from '@crossgear/core-scheduler'
import type { ScriptArgument } from './scripts.ts'

/** Fields of a job's hash beside the GearMonkey spec's, as pairs for HSET. */
export function fieldsOf(job: NewJob): ScriptArgument[] {
  const fields: ScriptArgument[] = ['input', job.input, 'door', job.door]
  if (job.level !== 5) fields.push('level', job.level)
  if (job.unique) fields.push('unique', job.unique)
  if (job.reducer) fields.push('reducer', job.reducer)
  if (job.jid !== undefined) fields.push('jid', job.jid)
  if (job.envelope !== undefined) fields.push('envelope', job.envelope)
  if (job.retries !== undefined) fields.push('retries', job.retries)
  if (job.reserveForSeconds !== undefined) fields.push('reserve_for', job.reserveForSeconds)
  if (job.retentionSeconds) fields.push('keep', job.retentionSeconds)
  if (job.staleAtMs !== undefined) fields.push('stale', job.staleAtMs)
  if (job.lock) fields.push('once', job.lock.key)
  if (job.lock?.until === 'start') fields.push('once_until', 'start')
  if (job.batch !== undefined) fields.push('bid', job.batch)
  return fields
}

const empty = Buffer.alloc(0)

/** A job from the field-value pairs of its hash; undefined where the hash has no `status`. */
export function jobOf(lane: string, id: number, pairs: readonly Buffer[]): Job | undefined {
  const fields = new Map<string, Buffer>()
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = pairs[at]
    const value = pairs[at + 1]
    if (name && value) fields.set(name.toString('latin1'), value)
  }
  const status = fields.get('status')
  if (!status) return undefined
  const text = (name: string): string | undefined => fields.get(name)?.toString()
  const count = (name: string): number | undefined => {
    const value = fields.get(name)
    return value && Number(value.toString())
  }
  return {
    lane,
    id,
    status: status.toString() as Status,
    door: (text('door') ?? 'native') as Door,
    level: (count('level') ?? 5) as Level,
    input: fields.get('input') ?? empty,
    losses: count('losses') ?? 0,
    settled: fields.has('settled'),
    waiting: clientsOf(text('wait')),
    ...optional('thrown', fields.has('thrown') || undefined),
    ...optional('output', fields.get('output')),
    ...optional('enqueuedAtMs', count('enqueued')),
    ...optional('unique', fields.get('unique')),
    ...optional('reducer', fields.get('reducer')),
    ...optional('jid', text('jid')),
    ...optional('envelope', text('envelope')),
    ...optional('failure', text('failure')),
    ...optional('retries', count('retries')),
    ...optional('retentionSeconds', count('keep')),
    ...optional('reserveForSeconds', count('reserve_for')),
    ...optional('dividend', fields.get('status:dividend')),
    ...optional('divisor', fields.get('status:divisor')),
    ...optional('token', text('token')),
    ...optional('note', text('note')),
    ...optional('notedAtMs', count('noted')),
  }
}

/** `node,node=clients`, see `lua/lib/waits.lua`. */
function clientsOf(waiting = ''): number {
  const nodes = waiting === '' ? [] : waiting.split(',')
  return nodes.reduce((sum, node) => sum + Number(node.split('=')[1] ?? 1), 0)
}

function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): Partial<Record<Name, Value>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>)
}

/** What the claim and expired scripts return per job: lane, id, token, hash. */
export type ReservedReply = readonly [Buffer, Buffer, Buffer, readonly Buffer[]]

/** A reservation from a script's reply. `nowMs` (the store's clock) tells how long it was queued. */
export function reservationOf(reply: ReservedReply, nowMs: number): Reservation {
  const [lane, id, token, pairs] = reply
  const job = jobOf(lane.toString(), Number(id.toString()), pairs)
  if (!job) throw new Error(`job ${id.toString()} of ${lane.toString()} has no status`)
  const held = token.toString()
  const heldBy: ClaimBy = held.startsWith('c') ? 'consumer' : 'named'
  return {
    ...job,
    token: held,
    heldBy,
    ...optional(
      'waitedMs',
      job.enqueuedAtMs === undefined ? undefined : Math.max(0, nowMs - job.enqueuedAtMs),
    ),
  }
}
