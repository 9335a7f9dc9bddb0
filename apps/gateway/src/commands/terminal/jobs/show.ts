import { isDeeper } from '@crossgear/fwp-codec'
import { payloadQuery } from '../../../web/api/schemas/jobs.ts'
import type { Asked } from '../api-client.ts'
import { type CommandRow, say, valuesOf } from '../command-row.ts'
import { progressOf } from '../fleet/workers.ts'
import { waitWords } from '../lanes/columns.ts'
import { optionsOf } from '../option-rows.ts'
import { shownName, shownText } from '../shown-text.ts'
import { type Detail, jobArgument, jobNamed } from './named.ts'

type Bytes = Detail['payload']

const payloadOptions = optionsOf(payloadQuery)

export const showJob: CommandRow = {
  words: ['jobs', 'show'],
  summary: 'show one job with its payload, its times and its errors',
  arguments: [jobArgument],
  options: payloadOptions,
  run: async (context) => {
    const { client, given } = context
    const query = valuesOf(given, payloadOptions) as NonNullable<Asked<'getJob'>['query']>
    const job = await jobNamed(client, given.names[0] ?? '', query)
    return say(context, job, () => linesOf(job))
  },
}

/** Fields that are null or without news are left out. */
function linesOf(job: Detail): readonly string[] {
  const { payload, output, error, attempts, progress, held_by: holder, envelope, ...others } = job
  const plain = { ...others, waits_for: waitWords(job) || null }
  const rows: (readonly [string, unknown])[] = Object.entries(plain)
  if (holder) rows.push(...holderRows(holder))
  if (progress) rows.push(['progress', progressOf({ progress })])
  if (envelope !== null) rows.push(['envelope', JSON.stringify(envelope)])
  const failure: Readonly<Record<string, unknown>> = error ?? {}
  for (const [name, value] of Object.entries(failure)) {
    if (!Array.isArray(value)) rows.push([`error.${name}`, value])
  }
  const width = Math.max(...rows.map(([name]) => name.length))
  const lines = rows.flatMap(([name, value]) =>
    isNews(value) ? [`${name.padEnd(width)}  ${shownName(String(value))}`] : [],
  )
  const trace = (error?.backtrace ?? []).map((line) => `  ${shownName(line)}`)
  return [
    ...lines,
    ...(trace.length > 0 ? ['backtrace', ...trace] : []),
    ...attemptLines(attempts),
    ...bytesLines('payload', payload),
    ...(output ? bytesLines('output', output) : []),
  ]
}

function holderRows(
  holder: NonNullable<Detail['held_by']>,
): readonly (readonly [string, unknown])[] {
  const { kind, node, node_answers: answers, worker, since } = holder
  const silence = answers === false ? ', which does not answer' : ''
  const { worker: id, name, address, hostname, pid } = worker ?? {}
  return [
    ['held_by', `${kind}${node === null ? '' : ` of ${node}${silence}`}`],
    ['held_by.since', since],
    ['held_by.worker', id],
    ['held_by.name', name || undefined],
    ['held_by.address', address],
    ['held_by.hostname', hostname],
    ['held_by.pid', pid],
  ]
}

/** The only attempt is the error itself. */
function attemptLines(attempts: Detail['attempts']): readonly string[] {
  if (attempts.length < 2) return []
  const rows = attempts.map(({ at, type, message }) => {
    const error = [type, message].filter(Boolean).join(': ')
    return `  ${at ?? 'at an unknown time'}  ${shownName(error)}`
  })
  return ['attempts', ...rows]
}

function isNews(value: unknown): boolean {
  return value !== null && value !== undefined && value !== false && value !== 0
}

/** Each line of a deep value would be mostly indentation. */
const deepestIndented = 32

function textOf(value: unknown): string {
  const text = JSON.stringify(value)
  return isDeeper(text, deepestIndented) ? text : JSON.stringify(value, null, 2)
}

function bytesLines(
  name: string,
  { size_bytes: size, form, value, is_cut: isCut }: Bytes,
): string[] {
  const title = `${name} (${size} bytes, ${form}${isCut ? ', cut' : ''})`
  if (value === null || value === undefined) return [title]
  const text = typeof value === 'string' ? value : textOf(value)
  return [
    title,
    ...shownText(text)
      .split('\n')
      .map((line) => `  ${line}`),
  ]
}
