import type { FwpJob } from './job.ts'
import { scanFields } from './json-scan.ts'

/** The order in which a server prints known fields. */
const printedFirst = [
  'retry',
  'failure',
  'custom',
  'jid',
  'queue',
  'jobtype',
  'created_at',
  'enqueued_at',
  'at',
  'args',
  'reserve_for',
  'backtrace',
] as const

const isPrintedFirst: ReadonlySet<string> = new Set(printedFirst)

/** The job without its `args`: every field as written, in order. Input of `renderJob`. */
export function writeEnvelope(job: FwpJob): string {
  let text = '{'
  for (const { rawKey, value } of job.fields) {
    text += text === '{' ? `${rawKey}:${value}` : `,${rawKey}:${value}`
  }
  return `${text}}`
}

/**
 * The job as a worker gets it: known fields in the customary order, then `priority` and unknown ones in their own order,
 * then added ones. A queue that is missing, null or empty becomes `default`; nothing else changes.
 *
 * @param overrides raw JSON text by name, in place of fields of the envelope or added to them; not checked
 * @param args the raw text of a JSON array; not checked
 * @throws FwpError INVALID_JSON if the envelope is not a JSON object
 */
export function renderJob(
  envelope: string,
  overrides: ReadonlyMap<string, string>,
  args: string,
): string {
  const fields = scanFields(envelope)
  let text = ''
  for (const name of printedFirst) {
    const raw = name === 'args' ? args : (overrides.get(name) ?? fields.get(name)?.value)
    const shown = name === 'queue' ? namedQueue(raw) : raw
    if (shown !== undefined) text += `,"${name}":${shown}`
  }
  for (const { key, rawKey, value } of fields.values()) {
    if (!isPrintedFirst.has(key)) text += `,${rawKey}:${overrides.get(key) ?? value}`
  }
  for (const [name, raw] of overrides) {
    if (!isPrintedFirst.has(name) && !fields.has(name)) text += `,${JSON.stringify(name)}:${raw}`
  }
  return `{${text.slice(1)}}`
}

function namedQueue(raw: string | undefined): string {
  return raw === undefined || raw === 'null' || raw === '""' ? '"default"' : raw
}
