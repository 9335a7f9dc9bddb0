import type {
  HeldRef,
  Job,
  JobRef,
  JobState,
  JobStore,
  LeasedJob,
  LookExtra,
} from '@crossgear/core-scheduler'
import { isSettled, jobOf, stateOf, uniqueKey } from './memory-job.ts'
import { expiredIn, heldIn } from './lanes/maintenance.ts'
import { MemoryPart } from './memory-part.ts'

/** Jobs of a {@link MemoryWorld}. */
export class MemoryJobs extends MemoryPart implements JobStore {
  abandon(lane: string, ids: readonly number[]): Promise<void> {
    return this.step((world) => {
      for (const id of ids) {
        const job = world.lane(lane).job(id, world.nowMs())
        const at = job?.waiting.indexOf(this.node) ?? -1
        if (at >= 0) job?.waiting.splice(at, 1)
      }
    })
  }

  noteMove = (): Promise<void> => Promise.resolve()
  movedTo = (): Promise<JobRef | undefined> => Promise.resolve(undefined)

  keepOutcomes(lane: string, ids: readonly number[], seconds: number): Promise<void> {
    return this.step((world) => {
      for (const id of ids) {
        const job = world.lane(lane).job(id, world.nowMs())
        if (!job?.terms || isSettled(job) || (job.terms.retentionSeconds ?? 0) >= seconds) continue
        job.terms = { ...job.terms, retentionSeconds: seconds }
      }
    })
  }

  read(lane: string, ids: readonly number[]): Promise<readonly (Job | undefined)[]> {
    return this.step((world) =>
      ids.map((id) => {
        const job = world.lane(lane).job(id, world.nowMs())
        return job && jobOf(lane, job)
      }),
    )
  }

  look(
    lane: string,
    ids: readonly number[],
    extras?: readonly LookExtra[],
  ): Promise<readonly (JobState | undefined)[]> {
    return this.step((world) =>
      ids.map((id) => {
        const job = world.lane(lane).job(id, world.nowMs())
        return job && stateOf(lane, job, extras)
      }),
    )
  }

  findJid(jid: string): Promise<JobRef | undefined> {
    return this.step((world) => {
      for (const { lane, jids } of world.lanes) {
        const id = jids.get(jid)
        if (id !== undefined) return { lane, id }
      }
      return undefined
    })
  }

  findUniques(
    uniques: readonly Uint8Array[],
    lanes: readonly string[],
  ): Promise<readonly (readonly JobRef[])[]> {
    return this.step((world) =>
      uniques.map((unique) =>
        lanes.flatMap((lane) => {
          const id = world.lane(lane).unique.get(uniqueKey(unique))
          return id === undefined ? [] : [{ lane, id }]
        }),
      ),
    )
  }

  expired(lanes: readonly string[], max: number): Promise<readonly LeasedJob[]> {
    return this.step((world) => lanes.flatMap((lane) => expiredIn(world, world.lane(lane), max)))
  }

  held(lanes: readonly string[]): Promise<readonly HeldRef[]> {
    return this.step((world) => lanes.flatMap((lane) => heldIn(world, world.lane(lane), this.node)))
  }
}
