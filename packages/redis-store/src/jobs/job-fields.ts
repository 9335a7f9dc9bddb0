import { isUtf8 } from 'node:buffer'
import {
  holderOf,
  isDoorName,
  maxTurnBytes,
  type Lease,
  type Level,
  nativeDoor,
  type Status,
} from '@crossgear/core-scheduler'
import type { OnForeignField } from '../connection/foreign-field.ts'

/** A job while the fields of its hash are read. */
export type Draft = { -readonly [Name in keyof Lease]?: Lease[Name] | undefined }

/** Reads a field into a job; false for a foreign value. */
type Reader = (job: Draft, value: Buffer) => boolean

/** Longest texts of numbers, lists of nodes, tokens and names, bytes. */
const maxDigits = 15
const maxWaitBytes = 16 * 1024
/** Of `former`, in lua/lib/former.lua. */
const maxFormerBytes = 2048
const maxNameBytes = 255
/** The last millisecond of the year 9999. */
const lastMs = 253_402_300_799_999
/** No job is reserved for longer, seconds. */
const maxReserveSeconds = 86_400

const statuses: ReadonlySet<string> = new Set<Status>(['idle', 'busy', 'success', 'error'])

/** Fields of scripts, which a look does not ask for. */
const scriptFields: ReadonlySet<string> = new Set([
  'stale',
  'dies_stale',
  'once_until',
  'callback',
  'ran',
  'on_death',
  'turn',
])

const tokenForm = /^[acn].+-\d+$/s
/** Words of the rules for retries. */
const backoffForm = /^[\x20-\x7e]{1,255}$/
/** When a job was moved, and its name there. */
const movedForm = /^\d{1,15} [\da-z]{1,6}-\d{1,16}$/
/** The W3C `traceparent`; later versions may have more at its end. */
const traceForm = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}/

const isSet = (value: Buffer): boolean => value.length === 1 && value[0] === 0x31
const textIn = (value: Buffer, maxBytes: number): string =>
  value.length > maxBytes ? '' : value.toString('latin1')

/** The id of a job as INCR makes it; undefined for another entry of a queue. */
export function jobIdOf(entry: Buffer): number | undefined {
  const id = Number(textIn(entry, 16))
  return Number.isSafeInteger(id) && String(id) === entry.toString('latin1') ? id : undefined
}

/** A whole number of 0 and more. */
export function wholeOf(value: Buffer): number | undefined {
  const text = textIn(value, maxDigits)
  return /^\d+$/.test(text) ? Number(text) : undefined
}

/** Milliseconds since 1970, perhaps with decimals. */
export function timeOf(value: Buffer): number | undefined {
  const text = textIn(value, maxDigits + 7)
  if (!/^\d{1,15}(\.\d{1,6})?$/.test(text)) return undefined
  const ms = Number(text)
  return ms <= lastMs ? ms : undefined
}

/** The same, also before 1970. */
export function instantOf(value: Buffer): number | undefined {
  const isBefore = value[0] === 0x2d
  const ms = timeOf(isBefore ? value.subarray(1) : value)
  return ms !== undefined && isBefore ? -ms : ms
}

/** When a scheduled job is due, milliseconds since 1970, by its score: of a native program's any. */
export function dueOf(score: string): number {
  const seconds = Number(score.replace('inf', 'Infinity'))
  return Math.round(Math.min(lastMs, Math.max(0, seconds * 1000)))
}

function signedOf(value: Buffer): number | undefined {
  const text = textIn(value, maxDigits + 1)
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** `node,node=clients`, see `lua/lib/waits.lua`. */
function clientsOf(value: Buffer): number | undefined {
  if (value.length > maxWaitBytes) return undefined
  const text = value.toString('latin1')
  if (!text.includes(',') && !text.includes('=')) return text === '' ? 0 : 1
  let sum = 0
  for (const part of text.split(',')) {
    const clients = /^[^=]+(?:=(\d{1,9}))?$/.exec(part)
    if (!clients) return undefined
    sum += Number(clients[1] ?? 1)
  }
  return sum
}

/** Assigns what a parser has found. */
function take<Name extends keyof Draft>(name: Name, parse: (value: Buffer) => Draft[Name]): Reader {
  return (job, value) => {
    const found = parse(value)
    if (found === undefined) return false
    job[name] = found
    return true
  }
}

const bytes = (value: Buffer): Buffer => value
const text = (value: Buffer): string => value.toString()

function jidIn(value: Buffer): string | undefined {
  const isJid = value.length > 0 && value.length <= maxNameBytes && isUtf8(value)
  return isJid ? value.toString() : undefined
}

/** The text of a JSON object. */
function objectIn(value: Buffer): string | undefined {
  const json = value.toString()
  try {
    const found = JSON.parse(json) as unknown
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? json : undefined
  } catch {
    return undefined
  }
}

/** A field that this side only checks: the scripts read it. */
const checked =
  (isSound: (value: Buffer) => boolean): Reader =>
  (_job, value) =>
    isSound(value)

function flag(raise: (job: Draft) => void): Reader {
  return (job, value) => {
    if (isSet(value)) raise(job)
    return isSet(value)
  }
}

const isText = (value: Buffer, form: RegExp): boolean => form.test(textIn(value, maxNameBytes))

/** The lease that a consumer lost last, see `lua/lib/former.lua`. */
function formerOf(value: Buffer): string | undefined {
  if (value.length > maxFormerBytes) return undefined
  const tokens = value.toString('latin1').split(' ')
  return tokens.findLast((token) => tokenForm.test(token) && holderOf(token) === 'consumer')
}

/** Readers of each field of a job's hash. */
const readers: ReadonlyMap<string, Reader> = new Map([
  [
    'status',
    (job, value) => {
      const status = value.toString('latin1')
      // A job with another status waits: nobody has ended it.
      job.status = statuses.has(status) ? (status as Status) : 'idle'
      return job.status === status
    },
  ],
  ['enqueued', take('enqueuedAtMs', timeOf)],
  ['arrived', take('arrivedAtMs', timeOf)],
  ['input', take('input', bytes)],
  [
    'door',
    take('door', (value) => {
      const door = textIn(value, maxNameBytes)
      return isDoorName(door) ? door : undefined
    }),
  ],
  [
    'level',
    take('level', (value) =>
      isText(value, /^[1-9]$/) ? (Number(value.toString('latin1')) as Level) : undefined,
    ),
  ],
  ['wait', take('waiting', clientsOf)],
  ['losses', take('losses', wholeOf)],
  ['fg', flag((job) => void (job.foreground = true))],
  ['settled', flag((job) => void (job.settled = true))],
  ['thrown', flag((job) => void (job.isException = true))],
  ['output', take('output', bytes)],
  ['unique', take('unique', bytes)],
  ['reducer', take('reducer', bytes)],
  ['jid', take('jid', jidIn)],
  ['bid', take('batch', jidIn)],
  ['envelope', take('envelope', objectIn)],
  ['trace', take('trace', (value) => (isText(value, traceForm) ? value.toString() : undefined))],
  ['origin', take('origin', text)],
  ['moved', take('moved', (value) => (isText(value, movedForm) ? value.toString() : undefined))],
  ['rerun', take('rerunAtMs', timeOf)],
  ['ended', take('endedAtMs', timeOf)],
  ['failure', take('failure', objectIn)],
  ['retries', take('retries', signedOf)],
  [
    'backoff',
    take('backoff', (value) => (isText(value, backoffForm) ? value.toString() : undefined)),
  ],
  ['keep', take('retentionSeconds', wholeOf)],
  [
    'reserve_for',
    take('reserveForSeconds', (value) => {
      const seconds = wholeOf(value) ?? 0
      return seconds > 0 && seconds <= maxReserveSeconds ? seconds : undefined
    }),
  ],
  ['status:dividend', take('dividend', bytes)],
  ['status:divisor', take('divisor', bytes)],
  [
    'token',
    take('token', (value) => (isText(value, tokenForm) ? value.toString('latin1') : undefined)),
  ],
  ['former', take('formerToken', formerOf)],
  ['on_death', take('onDeath', objectIn)],
  ['note', take('note', text)],
  ['noted', take('notedAtMs', timeOf)],
  ['timed', flag((job) => void (job.isTimed = true))],
  ['stale', take('staleAtMs', instantOf)],
  ['dies_stale', flag((job) => void (job.diesStale = true))],
  ['once_until', checked((value) => isText(value, /^start$/))],
  ['callback', checked((value) => isText(value, /^.+:(complete|success)$/))],
  ['ran', checked(isSet)],
  ['turn', checked((value) => value.length <= maxTurnBytes)],
])

/** Fields that tie a job to a lock or a batch. */
export const dependencyFields: ReadonlySet<string> = new Set(['once', 'bid', 'callback'])

/** All fields that the broker gives to a job. */
export const jobFields: ReadonlySet<string> = new Set([
  ...readers.keys(),
  ...dependencyFields,
  'held',
])

/** Fields without a length limit. */
export const longFields: readonly string[] = ['input', 'envelope', 'output']
/** Read by every look. */
export const shortFields: readonly string[] = [...readers.keys()].filter(
  (name) => !longFields.includes(name) && !scriptFields.has(name),
)

/** Reads the fields of one job; those with foreign values are left out and reported. */
export class FieldReader {
  readonly #job: Draft
  readonly #onForeign: OnForeignField
  #foreign: string[] | undefined

  constructor(job: Draft, onForeign: OnForeignField) {
    this.#job = job
    this.#onForeign = onForeign
  }

  add(field: string, value: Buffer): void {
    if (readers.get(field)?.(this.#job, value) === false) this.#leaveOut(field)
  }

  /** The job; undefined if its hash has no `status`. */
  end(): Draft | undefined {
    const job = this.#job
    if (job.status === undefined) return undefined
    // Written together with the status of the end.
    if (job.settled && job.status !== 'success' && job.status !== 'error') {
      job.settled = false
      this.#leaveOut('settled')
    }
    if (job.door === nativeDoor) this.#endNative()
    if (this.#foreign) {
      const { lane = '', id = 0 } = job
      for (const field of this.#foreign) this.#onForeign({ lane, id, field })
    }
    return job
  }

  /** A native client has none of the broker's clients, and no name for its jobs. */
  #endNative(): void {
    const job = this.#job
    if (job.foreground) this.#leaveOut('fg')
    if (job.waiting) this.#leaveOut('wait')
    if (job.jid !== undefined) this.#leaveOut('jid')
    if (job.envelope !== undefined) this.#leaveOut('envelope')
    job.foreground = false
    job.waiting = 0
    job.jid = undefined
    job.envelope = undefined
  }

  #leaveOut(field: string): void {
    this.#foreign ??= []
    this.#foreign.push(field)
  }
}
