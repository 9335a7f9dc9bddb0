import type { JobEvent, JobRef } from '../model/job.ts'
import type { ConsumerNews } from './queue-ports.ts'

/**
 * Lanes of which a node hears what native programs do, and of new jobs: all or some; `each`: of all lanes, and of each job
 * when it is stored, leased and ended.
 */
export type Watched = ReadonlySet<string> | 'all' | 'each'

/** Events that the store sends to a node. */
export interface StoreListener {
  /** A job of a watched lane was announced; a native client pushes it a moment later. */
  created(lane: string, id: number): void
  /** A worker began a job of a watched lane. */
  started(lane: string, id: number): void
  /** A job of a watched lane was finished. */
  finished(lane: string, id: number): void
  /** An event of a job that ran elsewhere, for a waiter of this node. */
  relayed(ref: JobRef, event: JobEvent | 'finish'): void
  /** Jobs may have come into this lane: from other nodes, or without a submission. */
  woken(lane: string, jobs: number): void
  /** Jobs of a lane whose function has a limit have ended, so that as many of any lane of the function may be handed out. */
  roomMade(lane: string, jobs: number): void
  laneAdded(lane: string, number: number): void
  /** `number`: the one that it had; 0: not known. */
  laneDropped(lane: string, number: number): void
  /** An operator closed a lane to consumers. */
  laneClosed(lane: string): void
  /** Faktory queues or functions were paused or resumed. */
  pausesChanged(): void
  /** An order for a Faktory worker (or `*`, all), or a sign of life from one. */
  consumerNews(wid: string, news: ConsumerNews): void
  /** Another node asks this one; the answer goes to it under the same number. */
  asked(node: string, number: number, question: string): void
  answered(node: string, number: number, answer: string): void
  /** The store answers again; earlier events may be missing. */
  up(): void
  down(reason: string): void
}

/** The part of the store that tells a node what others do. */
export interface EventStore {
  watch(what: Watched): Promise<void>
  listen(listener: StoreListener): void
  /** Sends a question, or its answer, to a node. False if certainly nobody listens there. */
  send(node: string, what: 'ask' | 'answer', number: number, text: string): Promise<boolean>
  /**
   * Settles when the listener has received everything published before; at once if it receives
   * nothing.
   */
  delivered(): Promise<void>
}
