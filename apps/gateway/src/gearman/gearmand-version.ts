import type { FunctionOrder } from '@crossgear/core-scheduler'

/** Differences between the gearmand versions that the port can replace. */
interface GearmandBehaviour {
  /** The number that the text command `version` answers: libraries compare it. */
  readonly number: string
  /** How a worker's functions and the priorities of their jobs go together. */
  readonly functionOrder: FunctionOrder
  /** Functions take turns although `--round-robin` does not say so. */
  readonly alwaysInTurn: boolean
  /** `--job-retries 0` lets no job survive a lost worker, and -1 any number; else 0 is any number. */
  readonly zeroRetriesMeansNone: boolean
}

/** By what `--gearmand-version` says. */
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
