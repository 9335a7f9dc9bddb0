import {
  defaultFaktoryRetries,
  type Job,
  type LaneRegistry,
  type NewJob,
} from '@crossgear/core-scheduler'
import {
  argsOfInput,
  decodeString,
  formatRfc3339,
  type FwpJob,
  inputOfArgs,
  type PayloadRule,
  renderJob,
  scanObject,
  writeEnvelope,
} from '@crossgear/fwp-codec'
import { jobOptionsOf } from './custom-options.ts'
import { jidOf } from './jids.ts'
import { trackedForSeconds, wantsTracking } from './tracking.ts'

/** How a function's payload is translated, where a route says so. */
export type PayloadRuleOf = (fn: string) => PayloadRule

/** The least time that a worker is granted for a job, seconds. */
const minReserveSeconds = 60
/** The envelope of a job that no Faktory producer pushed: what is shown is all in the overrides. */
const noEnvelope = '{}'

type Draft = { -readonly [Key in keyof NewJob]: NewJob[Key] }

/** A pushed job as the store keeps it. `nowMs`: the time that it gets where it names none. */
export function newJobOf(job: FwpJob, nowMs: number, rule: PayloadRule): NewJob {
  return {
    ...plainJobOf(job, nowMs, rule),
    ...(job.atMs !== undefined && { dueAtMs: job.atMs }),
    ...jobOptionsOf(job, nowMs),
  }
}

/** The same for a job that is pushed when it is time: it is due at once, and tied to nothing. */
export function plainJobOf(job: FwpJob, nowMs: number, rule: PayloadRule): NewJob {
  const draft: Draft = {
    input: inputOfArgs(job.args, rule),
    door: 'faktory',
    level: job.priority,
    foreground: false,
    jid: job.jid,
    envelope: envelopeOf(job, nowMs),
  }
  if (job.retry !== undefined) draft.retries = job.retry
  if (wantsTracking(job.custom)) draft.retentionSeconds = trackedForSeconds
  if (job.reserveForSeconds !== undefined) {
    draft.reserveForSeconds = Math.max(minReserveSeconds, job.reserveForSeconds)
  }
  return draft
}

/** The JSON text that a worker is handed. */
export function jobText(job: Job, registry: LaneRegistry, ruleOf: PayloadRuleOf): string {
  const { fn, queue } = registry.names.parse(job.lane)
  const { args, encoding } = argsOfInput(job.input, ruleOf(fn))
  const shown = new Map<string, string>()
  if (job.failure !== undefined) shown.set('failure', job.failure)
  if (job.enqueuedAtMs !== undefined) shown.set('enqueued_at', timestamp(job.enqueuedAtMs))
  if (job.envelope === undefined) {
    shown.set('retry', String(job.retries ?? 0))
    if (encoding !== undefined) shown.set('custom', JSON.stringify({ encoding }))
    shown.set('jid', JSON.stringify(jidOf(job, registry)))
    shown.set('queue', JSON.stringify(queue))
    shown.set('jobtype', JSON.stringify(fn))
    if (job.enqueuedAtMs !== undefined) shown.set('created_at', timestamp(job.enqueuedAtMs))
    if (job.reserveForSeconds !== undefined) {
      shown.set('reserve_for', String(job.reserveForSeconds))
    }
    shown.set('priority', String(job.level))
  } else shown.set('retry', String(job.retries ?? defaultFaktoryRetries))
  if (job.trace !== undefined) {
    const custom = shown.get('custom') ?? scanObject(job.envelope ?? noEnvelope).get('custom')
    shown.set('custom', withTrace(custom, job.trace))
  }
  return renderJob(job.envelope ?? noEnvelope, shown, args)
}

/** `custom` with the trace of the job's creation, unless it has one of its producer's. */
function withTrace(custom: string | undefined, trace: string): string {
  const own = `"traceparent":${JSON.stringify(trace)}`
  if (custom === undefined || custom === 'null') return `{${own}}`
  if (!custom.startsWith('{') || scanObject(custom).has('traceparent')) return custom
  const inner = custom.slice(1).trimStart()
  return inner === '}' ? `{${own}}` : `{${own},${inner}`
}

/** The output that a worker's `result` stands for: a string's text, or any other JSON as it is. */
export function outputOfResult(result: string | undefined): Buffer {
  if (result === undefined) return Buffer.alloc(0)
  return Buffer.from(result.startsWith('"') ? decodeString(result) : result)
}

/** The job as pushed without its args, with a creation time. Of two fields the last one counts. */
function envelopeOf(job: FwpJob, nowMs: number): string {
  const envelope = writeEnvelope(job)
  if (job.createdAt !== undefined) return envelope
  return `${envelope.slice(0, -1)},"created_at":${timestamp(nowMs)}}`
}

/** A raw JSON string. */
function timestamp(ms: number): string {
  return `"${formatRfc3339(ms)}"`
}
