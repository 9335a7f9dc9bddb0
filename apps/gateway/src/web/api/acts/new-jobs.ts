import {
  defaultLevel,
  type JobRef,
  nativeDoor,
  type NewJob,
  type Scheduler,
  type Submitted,
} from '@crossgear/core-scheduler'
import { picked } from '@crossgear/migration'
import { changedEnvelope } from '../../../bridge/stored-json.ts'
import type { Static } from '@sinclair/typebox'
import { ApiError } from '../api-error.ts'
import type { Handlers } from '../api.ts'
import type { JobNames } from '../reads/job-names.ts'
import type { PayloadGiven, submittedJob } from '../schemas/acts.ts'
import type { HandlerParts } from '../handler-parts.ts'

/** Why the store did not take a job. */
const refusals: Readonly<Record<Exclude<Submitted['kind'], 'created' | 'joined'>, string>> = {
  full: 'the function has as many jobs as its limit allows',
  unattended: 'no worker is there for the function',
  locked: 'another job holds its lock',
  unbatched: 'its batch is not known',
  ticked: 'its tick has its job',
}

/** Fields that another run of a job has like it. */
const kept = ['reducer', 'retries', 'reserveForSeconds', 'retentionSeconds', 'onDeath'] as const

/** Why a job is not replaced. */
const unreplaced = {
  runs: 'a worker has the job by now: cancel it first, or submit a new one',
  gone: 'the job has ended meanwhile',
  awaited: 'a client waits for the job, which would get a failure',
  held: 'a migration that was rolled back holds the job',
  native: 'the job came from a native client, which knows it by its place',
} as const

/** Submits a background job; settles when the store has it. Throws an ApiError if it is refused. */
export async function handIn(
  scheduler: Scheduler,
  lane: string,
  job: NewJob,
): Promise<JobRef & { readonly kind: 'created' | 'joined' }> {
  const result = await new Promise<Submitted>((resolve, reject) => {
    scheduler.submit(lane, { job, gone: false, submitted: resolve, refused: reject })
  })
  if ('id' in result) return { lane, id: result.id, kind: result.kind }
  throw new ApiError('not_accepted', refusals[result.kind])
}

export function submittedView(
  names: JobNames,
  { kind, ...ref }: Awaited<ReturnType<typeof handIn>>,
): Static<typeof submittedJob> {
  return { job: names.of(ref), handle: names.handleOf(ref), result: kind }
}

/** Submits an operator's jobs: new ones, and copies of earlier ones. */
export function newJobs({ scheduler, names }: HandlerParts) {
  const { registry } = scheduler
  const dueAt = (atMs: number | undefined) => (atMs === undefined ? {} : { dueAtMs: atMs })
  const dueAfter = (seconds: number | undefined) =>
    seconds ? { dueAtMs: scheduler.storeNowMs() + seconds * 1000 } : {}

  return {
    async submitJob({ body }) {
      const { function: fn, queue, level, payload, unique, retries, delay_seconds } = body
      const lane =
        queue === undefined ? registry.names.canonical(fn) : registry.names.lane(fn, queue)
      const job: NewJob = {
        input: bytesOf(payload),
        door: 'http',
        level: levelOf(level),
        foreground: false,
        ...(unique !== undefined && { unique: Buffer.from(unique) }),
        ...(retries !== undefined && { retries }),
        ...dueAfter(delay_seconds),
      }
      return submittedView(names, await handIn(scheduler, lane, job))
    },

    async resubmitJob({ params, body, scope }) {
      const found = await names.demand(params.job)
      scope?.demandJob(found)
      const old = await scheduler.jobs.read(found)
      if (!old) throw new ApiError('unknown_job', 'the job does not exist, or no longer')
      const { fn, queue } = registry.names.parse(old.lane)
      const lane = registry.names.lane(fn, body.queue ?? queue)
      scope?.demandTarget(lane)
      const { envelope } = old
      const level = levelOf(body.level ?? old.level)
      const job: NewJob = {
        input: body.payload === undefined ? old.input : bytesOf(body.payload),
        door: old.door === nativeDoor ? 'http' : old.door,
        level,
        foreground: false,
        ...picked(old, kept),
        // The old job still has its jid.
        ...(envelope !== undefined && {
          envelope: changedEnvelope(envelope, {
            jid: null,
            queue: body.queue,
            priority: body.level,
          }),
        }),
        ...dueAfter(body.delay_seconds),
        origin: names.of(old),
      }
      return submittedView(names, await handIn(scheduler, lane, job))
    },

    async replaceJob({ params, body, scope }) {
      const found = await names.demand(params.job)
      scope?.demandJob(found)
      scope?.demandTarget(found.lane)
      const old = await scheduler.jobs.read(found)
      if (!old) throw new ApiError('unknown_job', 'the job does not exist, or no longer')
      if (old.door === nativeDoor) throw new ApiError('not_accepted', unreplaced.native)
      const { level, payload, delay_seconds: delay } = body
      const standing = await scheduler.inspect.standing(old.lane, old.id)
      const isScheduled = standing?.place === 'scheduled' && old.failure === undefined
      const replaced = await scheduler.replace(old, {
        ...(payload !== undefined && { input: bytesOf(payload) }),
        ...(level !== undefined && { level: levelOf(level) }),
        ...(level !== undefined &&
          old.envelope !== undefined && {
            envelope: changedEnvelope(old.envelope, { priority: level }),
          }),
        ...(delay === undefined && isScheduled && dueAt(standing.atMs)),
        ...dueAfter(delay),
        origin: names.of(old),
      })
      if (replaced.kind !== 'replaced') {
        throw new ApiError('not_accepted', unreplaced[replaced.kind])
      }
      const ref = { lane: old.lane, id: replaced.id }
      return submittedView(names, { ...ref, kind: 'created' })
    },
  } satisfies Partial<Handlers>
}

function bytesOf(payload: PayloadGiven | undefined): Buffer {
  if (payload === undefined) return Buffer.alloc(0)
  if ('text' in payload) return Buffer.from(payload.text)
  if ('base64' in payload) return bytesOfBase64(payload.base64)
  return Buffer.from(JSON.stringify(payload.json))
}

/** The schema knows the letters alone, and four of them are three bytes. */
function bytesOfBase64(text: string): Buffer {
  if (text.replace(/=+$/, '').length % 4 === 1) {
    throw new ApiError('invalid_request', 'payload.base64 must be base64')
  }
  return Buffer.from(text, 'base64')
}

function levelOf(level: number | undefined): NewJob['level'] {
  return (level ?? defaultLevel) as NewJob['level']
}
