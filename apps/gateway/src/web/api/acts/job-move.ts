import { arrivalOf, type Job, type NewJob, type Scheduler } from '@crossgear/core-scheduler'
import { picked } from '@crossgear/migration'
import { changedEnvelope } from '../../../bridge/stored-json.ts'
import { ApiError } from '../api-error.ts'
import { apiIdOf } from '../reads/job-names.ts'
import type { FoundJob } from '../reads/job-scan.ts'
import { Ending } from './ending.ts'
import type { Scope } from '../scope.ts'
import { type Done, type Group, type Skip, skip } from './group.ts'
import { handIn } from './new-jobs.ts'

/** Least delay of a copy until the job itself is out of its queue, milliseconds. */
const heldForMs = 3_600_000
/** A longer payload is not moved, bytes. */
const longestMoved = 4 * 1024 * 1024

/**
 * Moves jobs to another queue, which is another lane and in a cluster another slot: first a copy that is due later,
 * then the job goes, then the copy is due. So at no moment is there none; a gateway that dies between leaves two.
 */
export class JobMove {
  readonly #scheduler: Scheduler
  readonly #ending: Ending

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
    this.#ending = new Ending(scheduler)
  }

  /** The lane to which jobs of a lane are moved. */
  targetOf(lane: string, toQueue: string): string {
    const { names } = this.#scheduler.registry
    return names.lane(names.parse(lane).fn, toQueue)
  }

  async group(group: Group, toQueue: string, isDry: boolean, scope?: Scope): Promise<Done> {
    const { lane, place, found } = group
    const target = this.targetOf(lane, toQueue)
    if (scope?.mayTarget(target) === false) return skip(found.length, 'is not yours to move there')
    if (target === lane) return skip(found.length, 'is in that queue')
    if (place === 'busy') return skip(found.length, 'runs')
    const skipped: Skip[] = []
    let [done, left] = [0, 0]
    for (const each of found) {
      const reason =
        reasonToStay(each) ?? (isDry ? undefined : await this.#move(group, each, target, left))
      if (reason !== undefined) skipped.push({ reason, jobs: 1 })
      else {
        done += 1
        left += 1
      }
    }
    return { done, left, skipped }
  }

  /** Undefined where it is moved, else why it is not. */
  async #move(
    group: Group,
    each: FoundJob,
    target: string,
    leftBefore: number,
  ): Promise<string | undefined> {
    const scheduler = this.#scheduler
    const { inputBytes = 0 } = (await scheduler.inspect.standing(group.lane, each.job.id)) ?? {}
    if (inputBytes > longestMoved) return 'has too long a payload'
    const job = await scheduler.jobs.read(each.job)
    if (!job) return 'has gone on meanwhile'
    if (isOfBatch(job)) return 'belongs to a batch'
    const dueAtMs = group.place === 'scheduled' ? each.placed.atMs : undefined
    const heldUntilMs = Math.max(dueAtMs ?? 0, scheduler.storeNowMs() + heldForMs)
    const { queue } = scheduler.registry.names.parse(target)
    const moved = `${Math.round(scheduler.storeNowMs())} ${apiIdOf(each.job, scheduler.registry)}`
    const held = { ...copyOf(job, queue), dueAtMs: heldUntilMs, moved }
    let copy: Awaited<ReturnType<typeof handIn>>
    try {
      copy = await handIn(scheduler, target, held)
    } catch (error) {
      if (error instanceof ApiError) return `is not taken: ${error.message}`
      throw error
    }
    // Nobody finds neither of them, whatever ends this node.
    await scheduler.jobs.noteMove(each.job, copy, dueAtMs)
    // A copy that joined a job of the target has that job's place.
    const piece = group.piece && {
      from: Math.max(0, group.piece.from - leftBefore),
      count: group.piece.count,
    }
    const { done, skipped } = await this.#ending.end(
      { ...group, ...(piece && { piece }), found: [each] },
      false,
      'moved',
    )
    if (done === 0) {
      await scheduler.jobs.noteMove(each.job, undefined)
      if (copy.kind === 'created')
        await scheduler.sets.moveOf(target, 'scheduled', [copy.id], 'withdrawn')
      return skipped[0]?.reason ?? 'has gone on meanwhile'
    }
    if (copy.kind === 'joined' || dueAtMs === heldUntilMs) return undefined
    await scheduler.sets.moveOf(target, 'scheduled', [copy.id], { dueAtMs: dueAtMs ?? 0 })
    return undefined
  }
}

function reasonToStay({ job }: FoundJob): string | undefined {
  if (job.foreground || job.waiting > 0) return 'has a waiting client'
  return job.door === 'native'
    ? 'came from a native client, which knows it by its place'
    : undefined
}

/** A batch counts its jobs, so a copy would be one too many. */
function isOfBatch({ envelope }: Job): boolean {
  return envelope?.includes('"bid"') ?? false
}

/** Fields that a copy has like the job. */
const copied = [
  'unique',
  'reducer',
  'jid',
  'trace',
  'origin',
  'retries',
  'backoff',
  'isTimed',
  'reserveForSeconds',
  'retentionSeconds',
  'staleAtMs',
  'diesStale',
  'onDeath',
] as const

function copyOf(job: Job, queue: string): NewJob {
  const { input, level, door, envelope } = job
  const arrivedAtMs = arrivalOf(job)
  return {
    ...(arrivedAtMs !== undefined && { arrivedAtMs }),
    input,
    level,
    door: door === 'native' ? 'http' : door,
    foreground: false,
    isMoved: true,
    ...picked(job, copied),
    ...(envelope !== undefined && { envelope: changedEnvelope(envelope, { queue }) }),
  }
}
