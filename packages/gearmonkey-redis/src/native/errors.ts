/** Every code of a {@link GearMonkeyError}, and when it is thrown or reported. */
export const gearMonkeyErrors = {
  BAD_ARGUMENT: 'a function name, option or progress figure is wrong',
  NO_WORKERS: 'a roll call found no worker of the function',
  NO_ID: 'the server returned no id, so there is no job',
  SUBMIT_FAILED: 'the job got an id but was not queued; `ids` are the jobs that were queued',
  BLOCKING_TIMEOUT: 'the job was submitted but did not end in time; `ids` has its id',
  WAIT_LOST: 'the job was submitted but can no longer be waited for; `ids` has its id',
  READ_FAILED: 'the job could not be read from the server',
  ALREADY_ACCEPTED: 'the worker accepts that function already',
  STOPPED: 'the worker has been stopped, or the client closed',
  JOB_OVER: 'progress was reported for a job whose outcome is already known',
  SCRIPT_MISMATCH: 'the server returned a wrong SHA-1 for the script of scheduled jobs',
  BAD_ID: 'a queue had an entry that is not an id; the worker dropped it',
  CONNECTION: 'a connection to the server failed; the worker reconnects',
  POLL_FAILED: 'the server refused to return a job; the worker asks again',
  REPORT_FAILED: 'the server refused a report; the worker tries again',
  OUTCOME_LOST: 'the worker stopped before the server accepted an outcome; `ids` has the job',
} as const

/** A code of {@link gearMonkeyErrors}. */
export type GearMonkeyErrorCode = keyof typeof gearMonkeyErrors

/** The only error of the library. `cause` is the connection's error, if there is one. */
export class GearMonkeyError extends Error {
  override readonly name = 'GearMonkeyError'
  readonly code: GearMonkeyErrorCode
  /** Jobs that exist on the server although the call failed, or whose outcome was lost. */
  readonly ids: readonly number[]

  constructor(
    code: GearMonkeyErrorCode,
    detail: string,
    more: { readonly cause?: unknown; readonly ids?: readonly number[] } = {},
  ) {
    super(
      `${gearMonkeyErrors[code]}: ${detail}`,
      more.cause === undefined ? {} : { cause: more.cause },
    )
    this.code = code
    this.ids = more.ids ?? []
  }
}

/** The message of an error, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** True for an error reply of the server, as opposed to a lost connection. */
export function isReplyError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}
