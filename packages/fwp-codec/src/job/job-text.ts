import { FwpError } from '../errors.ts'
import type { FwpJob } from './job.ts'
import { scanFields, scanObject } from './json-scan.ts'
import { isAbsent } from './raw-values.ts'

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

/** Values by which a server means that the field is not set, and leaves it out. */
const unset: Readonly<Record<string, RegExp>> = {
  failure: /^null$/,
  custom: /^(null|\{\s*\})$/,
  created_at: /^(null|"")$/,
  enqueued_at: /^(null|"")$/,
  at: /^(null|"")$/,
  reserve_for: /^(null|-?0)$/,
  backtrace: /^(null|-?0)$/,
}

const isPrintedFirst: ReadonlySet<string> = new Set(printedFirst)

/** The job without its `args`: every field as written, in order. Input of `renderJob`. */
export function writeEnvelope(job: FwpJob): string {
  let text = '{'
  for (const { rawKey, value } of job.fields) {
    text += text === '{' ? `${rawKey}:${value}` : `,${rawKey}:${value}`
  }
  return `${text}}`
}

/** The job with these texts in its `custom`, in front of what its producer wrote there. */
export function withCustom(job: FwpJob, texts: Readonly<Record<string, string>>): FwpJob {
  const custom = mergedCustom(job.custom, texts)
  const fields = job.fields.filter(({ key }) => key !== 'custom')
  return {
    ...job,
    custom,
    fields: [...fields, { key: 'custom', rawKey: '"custom"', value: custom }],
  }
}

/**
 * A stored `failure` as Faktory's programs know it: without the list `attempts` that Crossgear keeps in it.
 * Text that is no JSON object within the limits is no record of a gateway, and stays as it is.
 */
export function withoutAttempts(failure: string): string {
  if (!failure.includes('"attempts":[')) return failure
  try {
    const kept = [...scanFields(failure).values()].filter(
      ({ key, value }) => key !== 'attempts' || !value.startsWith('['),
    )
    return `{${kept.map(({ rawKey, value }) => `${rawKey}:${value}`).join(',')}}`
  } catch (error) {
    if (!(error instanceof FwpError)) throw error
    return failure
  }
}

/** The raw text of `custom` with these texts in front, but those whose names it has. */
export function mergedCustom(
  custom: string | undefined,
  texts: Readonly<Record<string, string>>,
): string {
  const own = isAbsent(custom) ? '{}' : custom
  const fields = scanObject(own)
  const added = Object.entries(texts).filter(([name]) => !fields.has(name))
  if (added.length === 0) return own
  const text = JSON.stringify(Object.fromEntries(added))
  return fields.size === 0 ? text : `${text.slice(0, -1)},${own.trimStart().slice(1)}`
}

/**
 * The job as a worker gets it: known fields in the customary order, without those that are not set, then `priority`,
 * unknown and added ones. A queue that is not set becomes `default`.
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
    if (shown !== undefined && !unset[name]?.test(shown)) text += `,"${name}":${shown}`
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
