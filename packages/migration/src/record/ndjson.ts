import { isDoorName, isQueueName, type Level, nativeDoor } from '@crossgear/core-scheduler'
import { furtherFields, type Setting } from '@crossgear/redis-store'
import { importIdOf } from './identity.ts'
import { recordStates, type JobRecord, type RecordState } from './record.ts'

/** The version of the format that is written. */
export const ndjsonVersion = 1

/** Names of batches, callbacks and traces are shorter. */
const maxFurtherChars = 1024

type Line = Readonly<Record<string, unknown>>
const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value)

/** Reads a value; undefined for one that is not valid. */
type Reader = (value: unknown) => unknown

const bytes: Reader = (value) => (isBase64(value) ? bytesOf(value) : undefined)
// Files of former versions have fractions of a millisecond.
const number: Reader = (value) =>
  typeof value === 'number' && isNumber(Math.floor(value)) ? Math.floor(value) : undefined
const json: Reader = (value) => {
  try {
    if (isText(value)) JSON.parse(value)
    return isText(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The optional fields of a line, each with the member of a record that it is. */
const optional: readonly (readonly [name: string, member: keyof JobRecord, read: Reader])[] = [
  ['queue', 'queue', (value) => (isText(value) && isQueueName(value) ? value : undefined)],
  ['unique', 'unique', bytes],
  ['due_ms', 'dueAtMs', number],
  ['forget_ms', 'forgetAtMs', number],
  ['enqueued_ms', 'enqueuedAtMs', number],
  ['reducer', 'reducer', bytes],
  ['jid', 'jid', (value) => (isText(value) ? value : undefined)],
  ['envelope', 'envelope', json],
  ['failure', 'failure', json],
  ['retries', 'retries', number],
  ['reserve_for', 'reserveForSeconds', number],
  ['retention_seconds', 'retentionSeconds', number],
  ['stale_ms', 'staleAtMs', number],
  ['further', 'further', furtherOf],
]

/** A record as one line, without its end. */
export function lineOfRecord(record: JobRecord): string {
  const line: Record<string, unknown> = {
    v: ndjsonVersion,
    import_id: record.importId.toString('hex'),
    state: record.state,
    door: record.door,
    function: record.fn,
    level: record.level,
    payload: record.payload.toString('base64'),
  }
  for (const [name, member] of optional) {
    const value = record[member]
    if (value !== undefined) line[name] = Buffer.isBuffer(value) ? value.toString('base64') : value
  }
  return JSON.stringify(line)
}

/** A line of a backup or an export that is no job. */
export type Remark =
  | { readonly kind: 'backup'; readonly id: string; readonly made: string }
  | { readonly kind: 'export'; readonly made: string }
  /** The last line: settings of a backup, checksum over the job lines of an export, each with its end. */
  | {
      readonly kind: 'end'
      readonly jobs: number
      readonly settings?: number
      readonly sha256?: string
    }
  | Setting

const remarkKinds: readonly Remark['kind'][] = [
  'backup',
  'export',
  'end',
  'lane',
  'ticks',
  'paused',
  'cron',
  'batch',
]
const remarkStart = `{"v":${ndjsonVersion},"kind":`

/** A line that is no job, without its end. */
export function lineOfRemark(remark: Remark): string {
  return JSON.stringify({ v: ndjsonVersion, ...remark })
}

/** Parses a line that is no job; undefined for any other. */
export function remarkOf(text: string): Remark | undefined {
  if (!text.startsWith(remarkStart)) return undefined
  try {
    const { v: _version, ...remark } = JSON.parse(text) as Remark & { readonly v: number }
    return remarkKinds.includes(remark.kind) ? remark : undefined
  } catch {
    return undefined
  }
}

/** Parses a line; a text is the error. */
export function recordOfLine(text: string): JobRecord | string {
  let line: Line | null
  try {
    line = JSON.parse(text) as Line | null
  } catch {
    return 'it is no JSON'
  }
  if (typeof line !== 'object' || line === null) return 'it is no JSON object'
  if (line['v'] !== ndjsonVersion) return `its version is not ${ndjsonVersion}`
  const { state, door, function: fn, level, payload, import_id: importId } = line
  if (!recordStates.includes(state as RecordState)) return 'state is none that there is'
  if (!isText(door) || !(isDoorName(door) || door === nativeDoor))
    return 'door is no name of a door'
  if (!isText(fn) || fn === '') return 'function is missing'
  if (!isNumber(level) || level < 1 || level > 9) return 'level is not 1 to 9'
  if (!isBase64(payload)) return 'payload is no base64'
  const isOwn = isText(importId) && /^[0-9a-f]{32}$/.test(importId)
  const found: Record<string, unknown> = {}
  for (const [name, member, read] of optional) {
    const value = line[name]
    if (value === undefined || value === null) continue
    found[member] = read(value)
    if (found[member] === undefined) return `${name} is not valid`
  }
  if ((state === 'scheduled' || state === 'retry') && found['dueAtMs'] === undefined) {
    return 'due_ms is missing'
  }
  return {
    ...(found as Partial<JobRecord>),
    // A line of another program is identified by its whole content.
    importId: isOwn ? Buffer.from(importId, 'hex') : importIdOf('ndjson', text),
    state: state as RecordState,
    door,
    fn,
    level: level as Level,
    payload: bytesOf(payload),
  }
}

/** Texts under the names that there are; undefined for anything else. */
function furtherOf(value: unknown): JobRecord['further'] {
  if (typeof value !== 'object' || value === null) return undefined
  const names: readonly string[] = furtherFields
  const isSound = Object.entries(value).every(
    ([name, text]) => names.includes(name) && isText(text) && text.length <= maxFurtherChars,
  )
  return isSound ? value : undefined
}

function isBase64(value: unknown): value is string {
  return isText(value) && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)
}

function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64')
}
