import type { JobRecord } from '../record/record.ts'
import type { Fault } from '../target.ts'

/** A server's answer to a job: absent if accepted, else the reason. */
export type Refusal = string | undefined

/** Brings jobs to a server that keeps no notes on their origin. */
export interface Carrier {
  /** The address of the target without a password. */
  readonly identity: string
  /** Limits of the server, one line each. */
  readonly limits: readonly string[]
  /** Why its protocol cannot express a job. */
  faultOf(record: JobRecord): Fault | undefined
  /**
   * Sends jobs. Calls back for each answered one, in order; throws when the server stops answering.
   */
  send(
    records: readonly JobRecord[],
    onAnswer: (record: JobRecord, refusal: Refusal) => void,
  ): Promise<void>
  close(): Promise<void>
}
