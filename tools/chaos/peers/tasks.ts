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

/** How a native program finds the store. */
export type StoreWay =
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'sentinel'; readonly master: string; readonly ports: readonly number[] }
  | { readonly kind: 'cluster'; readonly ports: readonly number[] }

export interface ClientTask extends CommonTask {
  readonly role: 'client'
  /** Submits until so many are acknowledged. */
  readonly jobs: number
  readonly ratePerSecond: number
  /** Jobs in a hundred whose results are waited for; on the Gearman and native doors. */
  readonly foregroundPercent: number
  /** Jobs in a hundred that are due a second or two later. */
  readonly scheduledPercent: number
}

export interface WorkerTask extends CommonTask {
  readonly role: 'worker'
  /** Jobs at once. */
  readonly concurrency: number
  /** The longest that a job takes, milliseconds. */
  readonly workMs: number
}

export type Task = ClientTask | WorkerTask

/** Messages to a peer: to end well. */
export interface Order {
  readonly stop: true
}

/** Messages of a peer: how many jobs are acknowledged, and that all are. */
export interface Progress {
  readonly acknowledged: number
  readonly done: boolean
}

/** A job with such a key kills the worker that takes it. */
export const poisonMark = 'poison'
