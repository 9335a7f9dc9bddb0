import type { JobRecord } from '../record/record.ts'
import type { Fault } from '../target.ts'

/** The answer of a server to a job: absent where it has it, else its reason. */
export type Refusal = string | undefined

/** Brings jobs to a server that keeps no notes of where they come from. */
export interface Carrier {
  /** Its address without a password. */
  readonly identity: string
  /** Limits of the server, one line each. */
  readonly limits: readonly string[]
  /** Parts of a job that its protocol cannot say. */
  faultOf(record: JobRecord): Fault | undefined
  /** Sends jobs. Calls back for each that the server has answered, in order; throws when it answers no more. */
  send(
    records: readonly JobRecord[],
    onAnswer: (record: JobRecord, refusal: Refusal) => void,
  ): Promise<void>
  close(): Promise<void>
}
