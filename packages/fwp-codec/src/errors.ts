/**
 * Every error of this package: its code, and when it is thrown. The message of an
 * `FwpError` is the text that follows `-ERR ` on the wire.
 */
export const fwpErrors = {
  LINE_TOO_LONG: 'a line is longer than the decoder allows; the decoder stays failed',
  INVALID_REPLY: 'a reply has no sign, a wrong length or too long a body; the decoder stays failed',
  INVALID_HELLO: 'the first line is no HELLO, or its JSON or a field of it is wrong',
  INVALID_JSON: 'a job is no strict JSON object, or a known field has the wrong type',
  INVALID_JID: 'a jid is missing, under 8 bytes or over 255',
  INVALID_JOBTYPE: 'a jobtype is missing or over 255 bytes',
  MISSING_ARGS: 'args is missing or null',
  INVALID_RESERVE_FOR: 'reserve_for is more than one day',
  INVALID_AT: 'at is no RFC 3339 timestamp with a zone',
  INVALID_QUEUE: 'a queue name has a forbidden byte or is over 255 bytes',
  TOO_MANY_JOBS: 'a PUSHB carries more jobs than allowed',
  TOO_MANY_QUEUES: 'a command names more queues than allowed',
  INVALID_ACK: 'the argument of ACK is wrong',
  INVALID_FAIL: 'the argument of FAIL is wrong',
  MISSING_JID: 'a FAIL names no jid',
  INVALID_BEAT: 'the argument of BEAT is wrong',
  INVALID_MUTATE: 'the argument of MUTATE is no JSON object of the right shape',
  PATTERN_TOO_LONG: 'the pattern of a MUTATE is longer than allowed',
  UNKNOWN_MUTATE_TARGET: 'MUTATE names a set that does not exist',
  UNKNOWN_MUTATE_OPERATION: 'MUTATE names an operation that does not exist',
  UNKNOWN_QUEUE_COMMAND: 'QUEUE names a sub-command that does not exist',
  NO_WILDCARD: 'QUEUE LATENCY was given *',
  MISSING_QUEUE: 'a QUEUE sub-command names no queue',
  INVALID_TRACK: 'the argument of TRACK is wrong',
  INVALID_CUSTOM: 'a value in custom that the server goes by is wrong',
  INVALID_BATCH: 'the argument of BATCH is wrong',
} as const

/** A code of {@link fwpErrors}. */
export type FwpErrorCode = keyof typeof fwpErrors

/** Every error of this package for bad input. */
export class FwpError extends Error {
  override readonly name = 'FwpError'
  readonly code: FwpErrorCode

  /** `message` is sent to the peer after `-ERR `. */
  constructor(code: FwpErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
