import type { NodeContext } from '../node/node-context.ts'
import type { JobEvent, JobRef, JobState } from '../model/job.ts'
import type { NativeOutcomes } from './native-outcomes.ts'
import { failureEvent, type Outcomes } from './outcomes.ts'

/** How long the answer to this node's own step may lag behind its event, milliseconds. */
const ownAnswerMs = 2
/** Waiters per poll; the rest wait for the next one. */
const maxPolled = 500
/** A wait of this length may have missed its end, milliseconds. */
const oldMs = 1_000
/** Interval of polls for the progress of jobs with native workers, milliseconds. */
const progressEveryMs = 250
/** A client that waits this long may wait for a native worker: its lane's events are watched. */
const watchAfterMs = 100

interface Parts extends NodeContext {
  readonly outcomes: Outcomes
  readonly nativeOutcomes: NativeOutcomes
}

/** Reason to poll a job. */
interface PollReason {
  /** The end of the job was announced, and everything before it. */
  readonly endWasSeen?: boolean
  /** Events were missed for a while: progress of that time is in the store alone. */
  readonly afterSilence?: boolean
  /** A job that is gone will never be announced. */
  readonly goneIsLost?: boolean
}

/** Delivers to waiting clients what other nodes and native workers do with their jobs, from events and from polls. */
export class AwaitedJobs {
  readonly #parts: Parts
  /** Jobs that a native worker may run, by lane: it writes their progress without an event. */
  readonly #native = new Map<string, Set<number>>()

  constructor(parts: Parts) {
    const { events, tasks, ownSubmissions, waiters, subscriptions } = parts
    this.#parts = parts
    const settled = (lane: string, task: () => void): void => ownSubmissions.settled(lane, task)
    events.on('started', (lane, id) =>
      settled(lane, () => {
        if (waiters.has(lane, id)) this.#addNative(lane, id)
      }),
    )
    events.on('finished', (lane, id) => settled(lane, () => this.#finished(lane, id)))
    events.on('relayed', (ref, event) => settled(ref.lane, () => this.#relayed(ref, event)))
    events.on('lanesWatched', async (fresh) => {
      for (const lane of Array.from(waiters.lanes())) {
        if (fresh === 'all' || fresh.has(lane)) await this.#pollOld(lane, 0, { afterSilence: true })
      }
    })
    subscriptions.want(() => this.#lanesToWatch())
    tasks.add({
      name: 'awaited jobs',
      isFirst: true,
      run: async () => {
        for (const lane of Array.from(waiters.lanes())) {
          await this.#pollOld(lane, oldMs, { goneIsLost: true })
        }
      },
    })
    tasks.add({ name: 'waiters', everyMs: watchAfterMs, run: () => this.#watch() })
    tasks.add({ name: 'progress', everyMs: progressEveryMs, run: () => this.#pollProgress() })
  }

  #finished(lane: string, id: number): void {
    const { waiters, events, clock } = this.#parts
    if (!waiters.has(lane, id)) {
      events.emit('finishedUnawaited', lane, id)
      return
    }
    clock.after(ownAnswerMs, () => {
      if (waiters.has(lane, id)) void this.#poll(lane, [id])
    })
  }

  #relayed(ref: JobRef, event: JobEvent | 'finish'): void {
    const { waiters } = this.#parts
    if (event !== 'finish') waiters.notify(ref, event)
    else if (waiters.has(ref.lane, ref.id))
      void this.#poll(ref.lane, [ref.id], { endWasSeen: true })
  }

  #lanesToWatch(): string[] {
    const { waiters, clock } = this.#parts
    const beforeMs = clock.nowMs() - watchAfterMs
    return [...waiters.lanes()].filter((lane) => waiters.olderThan(lane, beforeMs, 1).length > 0)
  }

  #watch(): Promise<void> {
    const { subscriptions } = this.#parts
    if (this.#lanesToWatch().some((lane) => !subscriptions.covers(lane))) subscriptions.touch()
    return Promise.resolve()
  }

  async #pollProgress(): Promise<void> {
    const { waiters } = this.#parts
    for (const [lane, ids] of Array.from(this.#native)) {
      const polled: number[] = []
      for (const id of ids) {
        if (!waiters.has(lane, id)) this.#removeNative(lane, id)
        else if (polled.push(id) >= maxPolled) break
      }
      // Goes to the end of the line.
      for (const id of polled) {
        ids.delete(id)
        ids.add(id)
      }
      if (polled.length > 0) await this.#poll(lane, polled)
    }
  }

  #addNative(lane: string, id: number): void {
    const ids = this.#native.get(lane)
    if (ids) ids.add(id)
    else this.#native.set(lane, new Set([id]))
  }

  #removeNative(lane: string, id: number): void {
    const ids = this.#native.get(lane)
    if (ids?.delete(id) && ids.size === 0) this.#native.delete(lane)
  }

  /** Polls jobs that have been waited for this long. */
  async #pollOld(lane: string, ageMs: number, reason: PollReason): Promise<void> {
    const beforeMs = this.#parts.clock.nowMs() - ageMs
    const ids = this.#parts.waiters.inTurn(lane, beforeMs, maxPolled)
    if (ids.length > 0) await this.#poll(lane, ids, reason)
  }

  async #poll(lane: string, ids: readonly number[], reason: PollReason = {}): Promise<void> {
    try {
      await this.#look(lane, ids, reason)
    } catch (error) {
      this.#parts.observer.error('poll a job', error)
    }
  }

  async #look(lane: string, ids: readonly number[], reason: PollReason): Promise<void> {
    const { store, outcomes } = this.#parts
    const jobs = await store.jobs.look(lane, ids, ['output'])
    const over: (JobState | JobRef)[] = []
    const reported: JobState[] = []
    for (const [at, id] of ids.entries()) {
      const job = jobs[at]
      if (job?.status === 'idle' || job?.status === 'busy') {
        if (job.token === undefined) this.#notifyNews(job)
        else reported.push(job)
        this.#noteNative(job)
      } else if (job ?? reason.goneIsLost) over.push(job ?? { lane, id })
    }
    if (reason.afterSilence) await this.#notifyMissed(reported)
    if (over.length === 0) return
    // A worker's last reports may still be on their way to this node.
    const isNative = over.every((one) => 'status' in one && !one.settled)
    if (!reason.endWasSeen && !isNative) await store.events.delivered()
    for (const one of over) if (!outcomes.isSettling(one)) this.#notifyEnd(one)
  }

  /** Progress that other gateways have reported while this one got no events. */
  async #notifyMissed(reported: readonly JobState[]): Promise<void> {
    const { store, waiters, activeLeases } = this.#parts
    // The answers to this gateway's own reports bring what its workers say.
    const jobs = reported.filter(({ token = '' }) => !activeLeases.has(token))
    if (jobs.length === 0) return
    const before = jobs.map((job) => waiters.progress(job))
    // Events on their way to this node bring their own news.
    await store.events.delivered()
    for (const [at, job] of jobs.entries()) {
      if (waiters.progress(job) === before[at]) this.#notifyNews(job)
    }
  }

  #notifyNews(job: JobState): void {
    const { waiters } = this.#parts
    const { dividend, divisor } = job
    if (dividend && divisor && waiters.isNews(job, dividend, divisor)) {
      waiters.notify(job, { kind: 'status', dividend, divisor })
    }
  }

  /** Gateways forward their workers' progress; a native worker only writes it into the job. */
  #noteNative({ lane, id, token, status }: JobState): void {
    if (token !== undefined) this.#removeNative(lane, id)
    else if (status === 'busy') this.#addNative(lane, id)
  }

  #notifyEnd(job: JobState | JobRef): void {
    const { clock, waiters, nativeOutcomes } = this.#parts
    if (!('status' in job)) {
      // The answer to this node's own outcome may just be arriving.
      clock.after(ownAnswerMs, () => waiters.giveUp(job))
    } else if (!job.settled) nativeOutcomes.settle(job)
    else if (job.status === 'success') {
      waiters.notify(job, { kind: 'complete', output: job.output ?? Buffer.alloc(0) })
    } else waiters.notify(job, failureEvent(job.output ?? Buffer.alloc(0), job.isException))
  }
}
