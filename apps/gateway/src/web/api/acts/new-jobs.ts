import {
  defaultLevel,
  type JobRef,
  type NewJob,
  type Scheduler,
  type Submitted,
} from '@crossgear/core-scheduler'
import { picked } from '@crossgear/migration'
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
      const job: NewJob = {
        input: body.payload === undefined ? old.input : bytesOf(body.payload),
        door: 'http',
        level: levelOf(body.level ?? old.level),
        foreground: false,
        ...picked(old, ['retries', 'reserveForSeconds', 'retentionSeconds', 'onDeath']),
        ...dueAfter(body.delay_seconds),
        origin: names.of(old),
      }
      return submittedView(names, await handIn(scheduler, lane, job))
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
