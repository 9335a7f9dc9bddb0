/** Every code of a {@link GearMonkeyError}, and when it is thrown or reported. */
export const gearMonkeyErrors = {
  BAD_ARGUMENT: 'a function name, option or progress figure is wrong',
  NO_WORKERS: 'a roll call found no worker of the function',
  NO_ID: 'the server gave no id, so there is no job',
  SUBMIT_FAILED: 'the job got an id but was not put in its queue; `ids` are those that were',
  BLOCKING_TIMEOUT: 'the job was submitted but had not finished in time; `ids` holds its id',
  WAIT_LOST: 'the job was submitted but can no longer be waited for; `ids` holds its id',
  READ_FAILED: 'the job could not be read from the server',
  ALREADY_ACCEPTED: 'the worker accepts that function already',
  STOPPED: 'the worker has been stopped, or the client closed',
  JOB_OVER: 'progress was reported for a job whose outcome is already known',
  SCRIPT_MISMATCH: 'the server gave the script of scheduled jobs another SHA-1 than it has',
  BAD_ID: 'a queue held something that is no id; the worker dropped it',
  CONNECTION: 'a connection to the server failed; it is being tried again',
  POLL_FAILED: 'the server refused to hand out a job; the worker asks again',
  REPORT_FAILED: 'the server refused a report of the worker; it is being tried again',
  OUTCOME_LOST: 'the worker was stopped before the server took an outcome; `ids` holds the job',
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
