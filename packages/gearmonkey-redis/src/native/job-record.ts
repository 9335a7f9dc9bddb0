/** The GearMonkey text's words for a job's state. */
export type JobStatus = 'idle' | 'busy' | 'success' | 'error'

const statuses: ReadonlySet<string> = new Set<JobStatus>(['idle', 'busy', 'success', 'error'])

/** A job as stored in the server. */
export interface JobRecord {
  /** Absent if the field is missing or is none of the four words; see `fields`. */
  readonly status: JobStatus | undefined
  /** The worker's output, or the message of its error; absent until the job is finished. */
  readonly output: Buffer | undefined
  readonly input: Buffer | undefined
  /** The last progress that the worker reported; absent if there is none. */
  readonly progress: { readonly dividend: number; readonly divisor: number } | undefined
  /** The whole hash, fields that are not GearMonkey's included. */
  readonly fields: ReadonlyMap<string, Buffer>
}

/** A reply to HGETALL as a job; undefined if there is no such hash. */
export function jobRecordOf(reply: unknown): JobRecord | undefined {
  const fields = fieldsOf(reply)
  if (fields.size === 0) return undefined
  const status = fields.get('status')?.toString('latin1')
  return {
    status: isStatus(status) ? status : undefined,
    output: fields.get('output'),
    input: fields.get('input'),
    progress: progressOf(fields),
    fields,
  }
}

/** A job's id as it stands in a queue; undefined if it is none. */
export function idOf(text: string): number | undefined {
  const id = Number(text)
  return /^\d+$/.test(text) && Number.isSafeInteger(id) ? id : undefined
}

export function isFinished(record: JobRecord | undefined): boolean {
  return record?.status === 'success' || record?.status === 'error'
}

function isStatus(word: string | undefined): word is JobStatus {
  return word !== undefined && statuses.has(word)
}

function progressOf(fields: ReadonlyMap<string, Buffer>): JobRecord['progress'] {
  const dividend = numberOf(fields.get('status:dividend'))
  const divisor = numberOf(fields.get('status:divisor'))
  return dividend === undefined || divisor === undefined ? undefined : { dividend, divisor }
}

function numberOf(value: Buffer | undefined): number | undefined {
  const text = value?.toString('latin1').trim()
  if (text === undefined || text === '') return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

/** `[field, value, ...]`, or an object if the connection maps replies to one. */
function fieldsOf(reply: unknown): ReadonlyMap<string, Buffer> {
  const fields = new Map<string, Buffer>()
  if (Array.isArray(reply)) {
    const items = reply as readonly unknown[]
    for (let i = 0; i + 1 < items.length; i += 2)
      fields.set(String(items[i]), bytesOf(items[i + 1]))
  } else if (typeof reply === 'object' && reply !== null) {
    for (const [field, value] of Object.entries(reply)) fields.set(field, bytesOf(value))
  }
  return fields
}

function bytesOf(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(String(value))
}
