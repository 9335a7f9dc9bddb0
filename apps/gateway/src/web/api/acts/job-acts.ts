import type { JobRef } from '@crossgear/core-scheduler'
import type { Static } from '@sinclair/typebox'
import type { Handlers } from '../api.ts'
import { ApiError } from '../api-error.ts'
import { namedJobs } from '../reads/job-reads.ts'
import type { FoundJob } from '../reads/job-scan.ts'
import { actBounds, type actResult, type Selection } from '../schemas/acts.ts'
import type { JobFilter } from '../schemas/jobs.ts'
import type { Scope } from '../scope.ts'
import { listCursorOf, nextPiece, pieceAt, recordsOf } from './act-piece.ts'
import { DeletedJobs, type JobReader } from './deleted-jobs.ts'
import { Ending } from './ending.ts'
import { type Group, type GroupAct, type Done, settled, skip } from './group.ts'
import type { JobMove } from './job-move.ts'
import type { HandlerParts } from '../handler-parts.ts'

interface JobActParts extends Pick<HandlerParts, 'scheduler' | 'names' | 'scan'> {
  readonly move: JobMove
  readonly imports: JobReader
  /** Makes the name of an act: random letters, where it is not given. */
  readonly newActName?: () => string
}

/** Acts on jobs: each on some that are named, or on all that a filter takes, in pieces of a bounded size. */
export function jobActs(parts: JobActParts) {
  const { scheduler, move, imports } = parts
  const ending = new Ending(scheduler)
  const retry: GroupAct = async ({ lane, place, found }, isDry) => {
    if (place !== 'scheduled' && place !== 'dead')
      return skip(found.length, 'waits or runs already')
    if (isDry) return { done: found.length, left: 0, skipped: [] }
    return settled(found.length, await ending.fromSets(lane, place, found, 'queue'))
  }
  return {
    retryJobs: (input) => run(parts, input, retry),
    cancelJobs: (input) =>
      run(parts, input, (group, isDry) =>
        group.place === 'dead'
          ? Promise.resolve(skip(group.found.length, 'is dead: delete it'))
          : ending.end(group, isDry, 'cancelled'),
      ),
    async deleteJobs(input) {
      const piece = pieceAt(input.body.cursor, parts.newActName)
      const deleted = new DeletedJobs(scheduler, imports, recordsOf(piece))
      const act: GroupAct = async (group, isDry) => {
        if (group.place === 'busy') return skip(group.found.length, 'runs: cancel it')
        return isDry ? await ending.end(group, true, 'deleted') : await deleted.take(group)
      }
      const result = await run(parts, input, act, undefined, piece)
      const isNamed = input.body.filter !== undefined && !result.dry_run
      return { ...result, ...(await deleted.finish()), act: isNamed ? piece.name : null }
    },
    moveJobs: (input) =>
      run(
        parts,
        input,
        (group, isDry) => move.group(group, input.body.to_queue, isDry, input.scope),
        (lane) => move.targetOf(lane, input.body.to_queue),
      ),
  } satisfies Partial<Handlers>
}

type Result = Static<typeof actResult>

interface Asked {
  readonly body: Selection
  readonly scope?: Scope
}

async function run(
  parts: JobActParts,
  { body: selection, scope }: Asked,
  act: GroupAct,
  targetOf?: (lane: string) => string,
  actPiece = pieceAt(selection.cursor, parts.newActName),
): Promise<Result> {
  const { filter, dry_run: isDry = false } = selection
  if ((selection.jobs === undefined) === (filter === undefined)) {
    throw new ApiError('invalid_request', 'give either jobs or a filter')
  }
  const scoped = { ...filter, scope }
  const cursor = listCursorOf(selection.cursor)
  const jobs = selection.jobs ?? (await namedBy(parts, scoped, cursor))
  const tally = new Tally()
  if (jobs) {
    const groups = await groupsOf(parts, jobs, tally)
    for (const group of groups) {
      for (const { job } of group.found) scope?.demandJob(job)
      if (targetOf) scope?.demandTarget(targetOf(group.lane))
    }
    for (const group of groups) tally.add(group.found.length, await act(group, isDry))
    return {
      dry_run: isDry,
      ...tally.result(),
      looked_at: jobs.length,
      total: jobs.length,
      cursor: null,
    }
  }
  const { limit = actBounds.usual } = selection
  const total = cursor === undefined ? await parts.scan.total(scoped) : null
  const piece = await parts.scan.piece(scoped, limit, cursor, async (group) => {
    const done = await act(group, isDry)
    tally.add(group.found.length, done)
    return isDry ? 0 : done.left
  })
  return {
    dry_run: isDry,
    ...tally.result(),
    looked_at: piece.lookedAt,
    total,
    cursor: isDry ? piece.cursor : nextPiece(piece.cursor, actPiece),
  }
}

/** The jobs that a list with this filter finds without a scan. */
async function namedBy(
  parts: JobActParts,
  filter: JobFilter & { readonly scope?: Scope | undefined },
  cursor: string | undefined,
): Promise<string[] | undefined> {
  const found = await namedJobs(parts, filter, cursor)
  return found?.map(({ job }) => parts.names.of(job))
}

/** Adds up what was done. */
class Tally {
  readonly #skipped = new Map<string, number>()
  /** Names that no job has. */
  readonly unknown: string[] = []
  #matched = 0
  #done = 0

  add(matched: number, { done, skipped }: Done): void {
    this.#matched += matched
    this.#done += done
    for (const { reason, jobs } of skipped) {
      this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + jobs)
    }
  }

  result() {
    const skipped = [...this.#skipped].map(([reason, jobs]) => ({ reason, jobs }))
    return { matched: this.#matched, done: this.#done, skipped, unknown: this.unknown }
  }
}

/** Named jobs by place. Ended ones are skipped. */
async function groupsOf(
  { scheduler, names }: JobActParts,
  jobs: readonly string[],
  tally: Tally,
): Promise<readonly Group[]> {
  const groups = new Map<string, { lane: string; place: Group['place']; found: FoundJob[] }>()
  const seen = new Set<string>()
  for (const name of jobs) {
    const job = await names.find(name)
    const standing = job && (await scheduler.inspect.standing(job.lane, job.id))
    if (!job) tally.unknown.push(name)
    if (
      !job ||
      !standing ||
      job.status === 'success' ||
      (job.status === 'error' && standing.place !== 'dead')
    ) {
      tally.add(0, skip(1, 'has ended or is unknown'))
      continue
    }
    const ref: JobRef = job
    if (seen.has(names.of(ref))) continue
    seen.add(names.of(ref))
    // A native worker holds it: it stands in no place of ours.
    const place = job.status === 'busy' ? 'busy' : standing.place
    const key = `${place} ${job.lane}`
    const group = groups.get(key) ?? { lane: job.lane, place, found: [] }
    groups.set(key, group)
    group.found.push({ job, placed: standing })
  }
  return [...groups.values()]
}
