import {
  holderOf,
  type JobState,
  type Scheduler,
  searchedBytes,
  type Standing,
} from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import { inPieces } from '../../../in-pieces.ts'
import type { Handlers } from '../api.ts'
import type { jobDetail, JobFilter, jobPage } from '../schemas/jobs.ts'
import { isoTime, pageSizes } from '../schemas/common.ts'
import type { Scope } from '../scope.ts'
import type { FoundJob } from './job-scan.ts'
import {
  attemptsView,
  diedAtMs,
  errorOf,
  fitsFilter,
  nodeOfToken,
  summaryOf,
  stateOf,
  wholeTrace,
} from './job-view.ts'
import type { Reason } from './waits/reason.ts'
import { TimedJobs } from './timed-jobs.ts'
import { identityOf } from './worker-reads.ts'
import { lastRuns } from './run-reads.ts'
import { payloadStarts } from './payload-starts.ts'
import { envelopeView, shownPayloadBytes, viewOf } from './payload-view.ts'
import type { HandlerParts } from '../handler-parts.ts'

/** Jobs that are put in words per turn of the event loop, about a millisecond's work. */
const shownPerTurn = 100

/** Lists of jobs, and single jobs. */
export function jobReads(parts: HandlerParts) {
  const { scheduler, names, scan, waits } = parts
  const timed = new TimedJobs(scheduler, scan)
  const shown = ({ job, placed }: FoundJob, waitsFor: Reason | null) =>
    summaryOf(job, placed, names, (lane) => scheduler.registry.names.parse(lane), waitsFor)
  /** In pieces, so that the doors are served in between. */
  const allShown = async (found: readonly FoundJob[], withStart: boolean) => {
    const [reasons, starts] = await Promise.all([
      waits.ofJobs(found),
      withStart ? payloadStarts(found, scheduler) : undefined,
    ])
    const jobs: Static<typeof jobPage>['jobs'] = []
    await inPieces(
      found,
      (one) => {
        const at = jobs.length
        const job = shown(one, reasons[at] ?? null)
        jobs.push(starts ? { ...job, payload_start: starts[at] ?? null } : job)
      },
      shownPerTurn,
    )
    return jobs
  }

  return {
    async listJobs({ query, scope }) {
      const {
        limit = pageSizes.usual,
        cursor,
        order,
        payload_start: withStart = false,
        ...filter
      } = query
      const named = await namedJobs(parts, { ...filter, scope }, cursor)
      if (named) {
        const jobs = await allShown(named.slice(0, limit), withStart)
        return { jobs, looked_at: named.length, unsearched: 0, cursor: null }
      }
      const piece =
        order === undefined
          ? await scan.piece({ ...filter, scope }, limit, cursor)
          : await timed.piece({ ...filter, scope }, order, limit, cursor)
      return {
        jobs: await allShown(piece.found, withStart),
        looked_at: piece.lookedAt,
        unsearched: piece.unsearched,
        cursor: piece.cursor,
      } satisfies Static<typeof jobPage>
    },

    async getJob({ params, query, scope }) {
      const { payload = 'auto', max_payload_bytes: maxBytes = 65_536 } = query
      const { envelope: withEnvelope = true } = query
      const job = await names.demand(params.job)
      scope?.demandJob(job)
      const standing = await standingOf(job, scheduler)
      const found = { job, placed: standing }
      const hasEnded = ['succeeded', 'failed'].includes(stateOf(job, standing))
      const startOf = async (part: 'input' | 'output' | 'envelope', isWanted = true) => {
        if (!isWanted) return undefined
        const asked = { part, bytes: maxBytes, longest: shownPayloadBytes }
        return (await scheduler.inspect.payloadStarts(job.lane, [job.id], asked))[0]
      }
      const isShown = payload !== 'none'
      const [[reason = null], envelope, input, output] = await Promise.all([
        waits.ofJobs([found]),
        startOf('envelope', withEnvelope),
        startOf('input', isShown),
        startOf('output', isShown && hasEnded),
      ])
      return {
        ...shown(found, reason),
        error: errorOf(job.failure, wholeTrace),
        attempts: attemptsView(job),
        reserve_for_seconds: job.reserveForSeconds ?? null,
        retention_seconds: job.retentionSeconds ?? null,
        batch: job.batch ?? null,
        trace: job.trace ?? null,
        held_by: await holderView(job, parts),
        ...timesOf(job, stateOf(job, standing), standing),
        run_seconds: hasEnded ? await runSecondsOf(job, scheduler) : null,
        resubmitted_from: job.origin ?? null,
        ...envelopeView(envelope ?? { bytes: 0 }),
        payload: viewOf(input?.start, standing.inputBytes, payload),
        output: hasEnded ? viewOf(output?.start, standing.outputBytes, payload) : null,
      } satisfies Static<typeof jobDetail>
    },
  } satisfies Partial<Handlers>
}

/**
 * Jobs that a filter names, found without a scan; undefined where a scan is needed. Unique ids of dead jobs are in no
 * index, so a scan looks for a unique id that no other job has. The cursor of such a scan goes on with it.
 */
export async function namedJobs(
  { scheduler, names }: Pick<HandlerParts, 'scheduler' | 'names'>,
  { scope, ...filter }: JobFilter & { readonly scope?: Scope | undefined },
  cursor: string | undefined,
): Promise<readonly FoundJob[] | undefined> {
  const { jid, handle, unique } = filter
  const isNamed = handle !== undefined || jid !== undefined
  const jobs: (JobState | undefined)[] = []
  if (handle !== undefined) jobs.push(await names.byHandle(handle))
  else if (jid !== undefined) jobs.push(await names.byJid(jid))
  else if (unique !== undefined && cursor === undefined) {
    for (const ref of await scheduler.jobs.findUnique(Buffer.from(unique))) {
      jobs.push(await scheduler.jobs.look(ref))
    }
  } else return undefined
  const found: FoundJob[] = []
  for (const job of jobs) {
    if (!job || scope?.hasLane(job.lane) === false) continue
    const placed = await standingOf(job, scheduler)
    if (!isOf(job, filter, scheduler, stateOf(job, placed))) continue
    if (await holdsText(job, filter.text, scheduler)) found.push({ job, placed })
  }
  return isNamed || found.length > 0 ? found : undefined
}

function isOf(job: JobState, filter: JobFilter, scheduler: Scheduler, state: string): boolean {
  const { fn, queue } = scheduler.registry.names.parse(job.lane)
  return (
    (filter.function ?? fn) === fn &&
    (filter.queue ?? queue) === queue &&
    (filter.state ?? state) === state &&
    (filter.jid ?? job.jid) === job.jid &&
    fitsFilter(job, filter, scheduler.storeNowMs())
  )
}

async function holdsText(
  job: JobState,
  text: string | undefined,
  scheduler: Scheduler,
): Promise<boolean> {
  if (text === undefined || job.failure?.includes(text)) return true
  const { inputBytes } = await standingOf(job, scheduler)
  if (inputBytes > searchedBytes) return false
  const whole = await scheduler.jobs.read(job)
  return whole?.input.includes(text) ?? false
}

/** The place of a job, which may leave it meanwhile. */
async function standingOf(job: JobState, scheduler: Scheduler): Promise<Standing> {
  const standing = await scheduler.inspect.standing(job.lane, job.id)
  return standing ?? { place: 'queue', inputBytes: 0, outputBytes: 0 }
}

async function holderView(
  job: JobState,
  { fleet, scheduler }: Pick<HandlerParts, 'fleet' | 'scheduler'>,
): Promise<Static<typeof jobDetail>['held_by']> {
  const { status, token } = job
  if (status !== 'busy') return null
  const unknown = { node: null, node_answers: null, worker: null, since: null }
  if (token === undefined) return { kind: 'native', ...unknown }
  const kind = holderOf(token) === 'named' ? 'worker' : 'consumer'
  const node = nodeOfToken(token)
  if (node === undefined) return { kind, ...unknown }
  const answer = await fleet.holderOf(job, token, node)
  const { worker, forMs } = answer ?? {}
  return {
    kind,
    node,
    node_answers: answer !== undefined,
    worker: worker ? identityOf({ node, worker }) : null,
    since: forMs === undefined ? null : isoTime(scheduler.storeNowMs() - forMs),
  }
}

/** How long the last run of an ended job took, where it is among those of its function that are kept. */
async function runSecondsOf({ lane, id }: JobState, scheduler: Scheduler): Promise<number | null> {
  const runs = await lastRuns(scheduler.registry.names.parse(lane).fn, scheduler)
  const ms = runs.find((run) => run.lane === lane && run.id === id)?.runMs
  return ms === undefined ? null : ms / 1000
}

/** Times of what happened to a job. */
function timesOf(job: JobState, state: string, placed: Standing) {
  const { enqueuedAtMs, endedAtMs, rerunAtMs, moved = '' } = job
  const [movedAt, movedFrom = null] = moved.split(' ')
  return {
    queued_at: state === 'waiting' ? isoTime(enqueuedAtMs) : null,
    ended_at: isoTime(diedAtMs(placed) ?? endedAtMs),
    requeued_at: isoTime(rerunAtMs),
    moved_at: movedFrom === null ? null : isoTime(Number(movedAt)),
    moved_from: movedFrom,
  }
}
