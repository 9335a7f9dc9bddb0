import {
  arrivalOf,
  type Job,
  type LaneNames,
  type LaneRegistry,
  type NewJob,
} from '@crossgear/core-scheduler'
import {
  argsOfInput,
  decodeString,
  formatRfc3339,
  FwpError,
  type FwpJob,
  inputOfArgs,
  mergedCustom,
  type PayloadRule,
  renderJob,
  withoutAttempts,
  writeEnvelope,
} from '@crossgear/fwp-codec'
import { defaultFaktoryRetries } from '../../bridge/faktory-retries.ts'
import { jobOptionsOf } from './custom-options.ts'
import { jidOf } from './jids.ts'
import { membersOf } from '../../bridge/stored-json.ts'
import { trackedForSeconds, wantsTracking } from './tracking.ts'

/** A function's payload translation by its route. */
export type PayloadRuleOf = (fn: string) => PayloadRule

/** Shortest lease of a job, seconds. */
const minReserveSeconds = 60
/** The envelope of a job from another door: the overrides have all fields. */
const noEnvelope = '{}'

type Draft = { -readonly [Key in keyof NewJob]: NewJob[Key] }

/** A pushed job as stored. `nowMs`: its creation time if it names none. */
export function newJobOf(job: FwpJob, nowMs: number, rule: PayloadRule, names: LaneNames): NewJob {
  const draft = draftOf(job, nowMs, rule)
  if (job.atMs !== undefined) draft.dueAtMs = job.atMs
  return job.custom === undefined ? draft : Object.assign(draft, jobOptionsOf(job, nowMs, names))
}

/** A Faktory job that is pushed later, as the store gets it: due at once, and without lock or batch. */
export function plainJobOf(job: FwpJob, nowMs: number, rule: PayloadRule): NewJob {
  return draftOf(job, nowMs, rule)
}

function draftOf(job: FwpJob, nowMs: number, rule: PayloadRule): Draft {
  const draft: Draft = {
    input: inputOfArgs(job.args, rule),
    door: 'faktory',
    level: job.priority,
    foreground: false,
    jid: job.jid,
    envelope: envelopeOf(job, nowMs),
  }
  if (job.retry !== undefined) draft.retries = job.retry
  if (job.failure !== undefined) draft.failure = job.failure
  if (wantsTracking(job.custom)) draft.retentionSeconds = trackedForSeconds
  if (job.reserveForSeconds !== undefined) {
    draft.reserveForSeconds = Math.max(minReserveSeconds, job.reserveForSeconds)
  }
  return draft
}

/** The JSON text for a worker. An envelope that no producer can have pushed is left out. */
export function jobText(job: Job, registry: LaneRegistry, ruleOf: PayloadRuleOf): string {
  try {
    return textOf(job, registry, ruleOf)
  } catch (error) {
    if (!(error instanceof FwpError)) throw error
    const { envelope: _foreign, ...plain } = job
    return textOf(plain, registry, ruleOf)
  }
}

function textOf(job: Job, registry: LaneRegistry, ruleOf: PayloadRuleOf): string {
  const { fn, queue } = registry.names.parse(job.lane)
  const { args, encoding } = argsOfInput(job.input, ruleOf(fn))
  const shown = new Map<string, string>()
  if (job.failure !== undefined) shown.set('failure', withoutAttempts(job.failure))
  if (job.enqueuedAtMs !== undefined) shown.set('enqueued_at', timestamp(job.enqueuedAtMs))
  shown.set('jid', JSON.stringify(jidOf(job, registry)))
  if (!job.envelope?.includes('"jobtype"')) {
    shown.set('queue', JSON.stringify(queue))
    shown.set('jobtype', JSON.stringify(fn))
  }
  if (job.envelope === undefined) {
    shown.set('retry', String(job.retries ?? 0))
    if (encoding !== undefined) shown.set('custom', JSON.stringify({ encoding }))
    const cameMs = arrivalOf(job)
    if (cameMs !== undefined) shown.set('created_at', timestamp(cameMs))
    if (job.reserveForSeconds !== undefined) {
      shown.set('reserve_for', String(job.reserveForSeconds))
    }
    shown.set('priority', String(job.level))
  } else shown.set('retry', String(job.retries ?? defaultFaktoryRetries))
  if (job.trace !== undefined) {
    const custom = shown.get('custom') ?? membersOf(job.envelope).get('custom')
    shown.set('custom', withTrace(custom, job.trace))
  }
  return renderJob(job.envelope ?? noEnvelope, shown, args)
}

/** `custom` with the trace of the job's creation, unless its producer set one. */
function withTrace(custom: string | undefined, trace: string): string {
  const isObject = custom === undefined || custom === 'null' || custom.startsWith('{')
  return isObject ? mergedCustom(custom, { traceparent: trace }) : custom
}

/** The output for a worker's `result`: a string's text, or any other JSON unchanged. */
export function outputOfResult(result: string | undefined): Buffer {
  if (result === undefined) return Buffer.alloc(0)
  return Buffer.from(result.startsWith('"') ? decodeString(result) : result)
}

/** The pushed job without its args, with a creation time. The last of equal fields counts. */
function envelopeOf(job: FwpJob, nowMs: number): string {
  const envelope = writeEnvelope(job)
  if (job.createdAt !== undefined) return envelope
  return `${envelope.slice(0, -1)},"created_at":${timestamp(nowMs)}}`
}

/** A raw JSON string. */
function timestamp(ms: number): string {
  return `"${formatRfc3339(ms)}"`
}
