import type { Way } from './doors.ts'

export type DoorName = 'gearman' | 'faktory' | 'native'

interface CommonTask {
  readonly name: string
  readonly door: DoorName
  /** The log of this process. */
  readonly log: string
  readonly ways: readonly Way[]
  /** The store's address for native programs. */
  readonly store: StoreWay
  readonly lanes: readonly string[]
  readonly seed: number
}

/** A native program's way to the store. */
export type StoreWay =
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'sentinel'; readonly master: string; readonly ports: readonly number[] }
  | { readonly kind: 'cluster'; readonly ports: readonly number[] }

export interface ClientTask extends CommonTask {
  readonly role: 'client'
  /** Submits until this many are acknowledged. */
  readonly jobs: number
  readonly ratePerSecond: number
  /** Percentage of jobs whose results are waited for, on the Gearman and native doors. */
  readonly foregroundPercent: number
  /** Percentage of jobs that are due a second or two later. */
  readonly scheduledPercent: number
}

export interface WorkerTask extends CommonTask {
  readonly role: 'worker'
  /** Jobs at once. */
  readonly concurrency: number
  /** Longest duration of a job, milliseconds. */
  readonly workMs: number
}

export type Task = ClientTask | WorkerTask

/** Order to a peer to end gracefully. */
export interface Order {
  readonly stop: true
}

/** Progress of a peer: acknowledged jobs, and if it is done. */
export interface Progress {
  readonly acknowledged: number
  readonly done: boolean
}

/** Functions of unique jobs, of jobs in a throttled queue, and of cron. */
export const lockedLane = 'locked@locks'
export const narrowLane = 'narrow@narrow'
export const tickLane = 'tick@cron'

/** Concurrency of the throttled queue. */
export const narrowConcurrency = 2

/** A job with this in its key takes longer, so that others meet it. */
export const longMark = '-long-'

/** A job with this key kills its worker. */
export const poisonMark = 'poison'
