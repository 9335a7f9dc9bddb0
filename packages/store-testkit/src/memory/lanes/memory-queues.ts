import { endPlaces, takeOut } from './clearing.ts'
import {
  bands,
  reachableDepth,
  type ConsumerNews,
  type DroppedJob,
  type JobNote,
  type JobPlace,
  type JobRef,
  type JobSet,
  type QueuedPiece,
  type QueueStore,
  type SetExit,
  type SetPage,
  type Taken,
} from '@crossgear/core-scheduler'
import { buryJob, endJob, putBack } from '../jobs/finish.ts'
import { endStaleIn } from '../jobs/stale.ts'
import { isSettled, type MemoryJob } from '../memory-job.ts'
import { farMs, noTotals, type MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'
import { MemoryPart } from '../memory-part.ts'

/** Queues and sets of a {@link MemoryWorld}. */
export class MemoryQueues extends MemoryPart implements QueueStore {
  pausedQueues(): Promise<readonly string[]> {
    return this.step(({ paused }) => [...paused])
  }

  setPaused(queues: readonly string[], paused: boolean): Promise<void> {
    return this.#pause((world) => world.paused, queues, paused)
  }

  pausedFunctions(): Promise<readonly string[]> {
    return this.step(({ pausedFunctions }) => [...pausedFunctions])
  }

  setFunctionsPaused(names: readonly string[], paused: boolean): Promise<void> {
    return this.#pause((world) => world.pausedFunctions, names, paused)
  }

  #pause(
    of: (world: MemoryWorld) => Set<string>,
    names: readonly string[],
    paused: boolean,
  ): Promise<void> {
    return this.step((world) => {
      for (const name of names) {
        if (paused) of(world).add(name)
        else of(world).delete(name)
      }
      world.notifyAll((listener) => listener.pausesChanged())
    })
  }

  notifyOfConsumer(wid: string, news: ConsumerNews): Promise<void> {
    return this.step((world) => {
      world.notifyAll((listener) => listener.consumerNews(wid, news))
    })
  }

  oldest(lanes: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.step((world) =>
      lanes.map((name) => {
        const lane = world.lane(name)
        const heads = bands.flatMap((band) => lane.queues[band].slice(0, 1))
        const since = heads.map((id) => lane.job(id, world.nowMs())?.enqueuedAtMs ?? world.nowMs())
        return since.length === 0 ? undefined : Math.min(...since)
      }),
    )
  }

  setIds(name: string, set: JobSet, from: number, count: number): Promise<SetPage> {
    return this.step((world) => {
      const lane = world.lane(name)
      const ids = idsOf(lane, set, world.nowMs()).slice(from, from + count)
      const timeOf = (id: number): number =>
        lane.scheduled.get(id) ?? lane.job(id, world.nowMs())?.forgottenAtMs ?? 0
      return { ids, times: ids.map(timeOf), seen: ids.length }
    })
  }

  moveJobs(
    name: string,
    set: JobSet,
    ids: readonly number[],
    to: SetExit,
  ): Promise<readonly number[]> {
    return this.step((world) => {
      const lane = world.lane(name)
      const standing = new Set(idsOf(lane, set, world.nowMs()))
      const moved = ids.flatMap((id) => {
        const job = standing.has(id) ? lane.job(id, world.nowMs()) : undefined
        return job ? [job] : []
      })
      for (const job of moved) this.#move(world, lane, job, to)
      if (to === 'queue') lane.counters.rerun += moved.length
      if ((to === 'queue' || typeof to === 'object') && moved.length > 0) {
        world.wake(name, moved.length)
      }
      return moved.map(({ id }) => id)
    })
  }

  endJobs(name: string, places: readonly JobPlace[], max: number): Promise<readonly number[]> {
    return this.step((world) => {
      const lane = world.lane(name)
      const isAll = places.includes('busy')
      const ended = endPlaces(world, this.node, lane, { places, max, isAll })
      if (isAll && ended.length < max) lane.noteCleared()
      return ended
    })
  }

  endQueued(piece: QueuedPiece, as: Taken): Promise<readonly number[] | 'deep'> {
    return this.step((world) => {
      const lane = world.lane(piece.lane)
      const queue = lane.queues[piece.band]
      const nearest = Math.max(0, piece.from - piece.count)
      const farthest = piece.from + piece.count
      if (Math.min(farthest, queue.length - nearest) > reachableDepth) return 'deep'
      const waiting = piece.band === 'normal' ? lane.scheduledIds(true) : []
      const standing = [...waiting, ...queue.slice(nearest, farthest)]
      const ended = standing.filter((id) => piece.ids.includes(id))
      for (const id of ended) {
        takeOut(lane, id)
        const job = lane.job(id, world.nowMs())
        if (job) endJob(world, this.node, lane, job, 'error', Buffer.alloc(0))
      }
      lane.bookTaken(as, ended.length)
      return ended
    })
  }

  endStale(lanes: readonly string[], max: number): Promise<readonly DroppedJob[]> {
    return this.step((world) => lanes.flatMap((lane) => endStaleIn(world, world.lane(lane), max)))
  }

  markRemoved(name: string): Promise<void> {
    return this.step((world) => {
      const lane = world.lane(name)
      if (lane.queued === 0) lane.removedAt = lane.lastId
    })
  }

  resetTotals(name: string): Promise<void> {
    return this.step((world) => {
      const lane = world.lane(name)
      const { queued, scheduled, busy, dead } = lane
      const submitted = queued + scheduled.size + busy.size + dead.length
      lane.counters = { ...noTotals(), submitted }
    })
  }

  findFinished(jid: string): Promise<JobRef | undefined> {
    return this.step((world) => {
      for (const lane of world.lanes) {
        for (const { id, terms } of lane.all()) {
          const job = terms?.jid === jid ? lane.job(id, world.nowMs()) : undefined
          if (job && isSettled(job)) return { lane: lane.lane, id }
        }
      }
      return undefined
    })
  }

  note({ lane, id }: JobRef, token: string | undefined, note: JobNote): Promise<boolean> {
    return this.step((world) => {
      const job = world.lane(lane).job(id, world.nowMs())
      if (!job || (token !== undefined && job.token !== token)) return false
      job.notedAtMs = world.nowMs()
      if (note.text !== undefined) job.note = note.text
      if (note.percent !== undefined) {
        job.dividend = Buffer.from(String(note.percent))
        job.divisor = Buffer.from('100')
      }
      const { busy } = world.lane(lane)
      const untilMs = note.reserveUntilMs ?? 0
      if (token !== undefined && untilMs > (busy.get(id) ?? 0)) {
        busy.set(id, untilMs)
        job.heldAhead = undefined
      }
      return true
    })
  }

  #move(world: MemoryWorld, lane: MemoryLane, job: MemoryJob, to: SetExit): void {
    if (lane.dead.includes(job.id)) job.foreground = false
    takeOut(lane, job.id)
    if (to === 'dead') buryJob(world, this.node, lane, job, 'killed')
    else if (typeof to === 'object' && to.dueAtMs > world.nowMs()) {
      lane.scheduled.set(job.id, to.dueAtMs)
    } else if (to === 'queue' || typeof to === 'object') {
      job.settled = false
      lane.removedAt = undefined
      putBack(world, lane, job)
    } else {
      endJob(world, this.node, lane, job, 'error', Buffer.alloc(0))
      lane.bookTaken(to, 1)
    }
  }
}

function idsOf(lane: MemoryLane, set: JobSet, nowMs: number): number[] {
  if (set === 'dead') return [...lane.dead]
  const byTime = [...lane.scheduled]
    .filter(([, dueMs]) => dueMs < farMs)
    .sort(([, one], [, other]) => one - other)
  const failedBefore = (id: number): boolean => lane.job(id, nowMs)?.failure !== undefined
  return byTime.flatMap(([id]) => (failedBefore(id) === (set === 'retries') ? [id] : []))
}
