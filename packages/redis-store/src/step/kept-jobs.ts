import type { NewJob } from '@crossgear/core-scheduler'

/** Payloads that are kept, bytes. Then the oldest are read from the store again. */
const mostBytes = 64 * 1024 * 1024
/** A job with what it needs beside its payload, bytes, by and large. */
const bytesPerJob = 512
/** A job that waits longer is read from the store, milliseconds. */
const longestMs = 10_000
/** Lanes that a step names. */
const mostLanesNamed = 64

interface Kept {
  readonly job: NewJob
  /** `enqueued` in its hash: tells it from another job that has its id, as after a flush. */
  readonly enqueued: string
  readonly bytes: number
  readonly sinceMs: number
}

/**
 * Jobs that this node has submitted a moment ago: the store need not send back what the node has. Bounded by bytes
 * and time.
 */
export class KeptJobs {
  readonly #byLane = new Map<string, Map<number, Kept>>()
  /** Lanes into which others submit as well, and until when nothing of them is kept. */
  readonly #shared = new Map<string, number>()
  readonly #bounds: { readonly mostBytes: number; readonly longestMs: number }
  #bytes = 0

  constructor(bounds = { mostBytes, longestMs }) {
    this.#bounds = bounds
  }

  get bytes(): number {
    return this.#bytes
  }

  add(lane: string, id: number, job: NewJob, enqueued: string, nowMs: number): void {
    if (this.#isShared(lane, nowMs)) return
    const size = job.input.length + (job.envelope?.length ?? 0) + bytesPerJob
    let jobs = this.#byLane.get(lane)
    if (!jobs) this.#byLane.set(lane, (jobs = new Map<number, Kept>()))
    const before = jobs.get(id)
    if (before) this.#bytes -= before.bytes
    // Behind all others, as its id may be given again after a flush.
    jobs.delete(id)
    jobs.set(id, { job, enqueued, bytes: size, sinceMs: nowMs })
    this.#bytes += size
    if (this.#bytes > this.#bounds.mostBytes) this.#evict()
  }

  /** The job, if it is the one that the store means. */
  get(lane: string, id: number, enqueued: string): NewJob | undefined {
    const kept = this.#byLane.get(lane)?.get(id)
    return kept?.enqueued === enqueued ? kept.job : undefined
  }

  /** The job has ended, or become another. */
  drop(lane: string, id: number): void {
    const kept = this.#byLane.get(lane)?.get(id)
    if (kept) this.#remove(lane, id, kept)
  }

  /** Others submit into the lane, too: what is asked for is mostly theirs. */
  missed(lane: string, nowMs: number): void {
    this.#shared.set(lane, nowMs + this.#bounds.longestMs)
    for (const [id, kept] of this.#byLane.get(lane) ?? []) this.#remove(lane, id, kept)
  }

  /** Lanes of which jobs are kept, each with the id of the first; at most so many as a step can name. */
  firsts(nowMs: number): readonly (readonly [lane: string, id: number])[] {
    this.#forgetOld(nowMs)
    const firsts: [string, number][] = []
    for (const [lane, jobs] of this.#byLane) {
      for (const id of jobs.keys()) {
        firsts.push([lane, id])
        break
      }
      if (firsts.length >= mostLanesNamed) break
    }
    return firsts
  }

  #isShared(lane: string, nowMs: number): boolean {
    const untilMs = this.#shared.get(lane)
    if (untilMs === undefined) return false
    if (nowMs < untilMs) return true
    this.#shared.delete(lane)
    return false
  }

  /** In a lane the first is the oldest. */
  #forgetOld(nowMs: number): void {
    for (const [lane, jobs] of this.#byLane) {
      for (const [id, kept] of jobs) {
        if (nowMs - kept.sinceMs < this.#bounds.longestMs) break
        this.#remove(lane, id, kept)
      }
    }
  }

  /** Takes out the oldest of the lane that has waited longest, until there is room. */
  #evict(): void {
    while (this.#bytes > this.#bounds.mostBytes) {
      const [first] = this.#byLane
      if (!first) return
      const [lane, jobs] = first
      for (const [id, kept] of jobs) {
        this.#remove(lane, id, kept)
        if (this.#bytes <= this.#bounds.mostBytes) return
      }
    }
  }

  #remove(lane: string, id: number, { bytes }: Kept): void {
    const jobs = this.#byLane.get(lane)
    if (!jobs?.delete(id)) return
    this.#bytes -= bytes
    if (jobs.size === 0) this.#byLane.delete(lane)
  }
}
