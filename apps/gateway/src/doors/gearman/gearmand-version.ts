import type { FunctionOrder } from '@crossgear/core-scheduler'

/** Differences between gearmand versions that the port can stand in for. */
interface GearmandBehaviour {
  /** Answer to the text command `version`: libraries compare it. */
  readonly number: string
  /** Order of a worker's functions and of their jobs' priorities. */
  readonly functionOrder: FunctionOrder
  /** Functions take turns even without `--round-robin`. */
  readonly alwaysInTurn: boolean
  /**
   * `--job-retries 0` lets no job survive a lost worker, and -1 any number; else 0 is any number.
   */
  readonly zeroRetriesMeansNone: boolean
}

/** By the value of `--gearmand-version`. */
export const gearmandVersions = {
  '1.1': {
    number: '1.1.20',
    functionOrder: 'in-order',
    alwaysInTurn: false,
    zeroRetriesMeansNone: false,
  },
  '2.0': {
    number: '2.0.0',
    functionOrder: 'by-level',
    alwaysInTurn: true,
    zeroRetriesMeansNone: true,
  },
} as const satisfies Record<string, GearmandBehaviour>

export type GearmandVersion = keyof typeof gearmandVersions
