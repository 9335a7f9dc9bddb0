/** The catalogue of errors, each with the side that throws it. */
export const codecErrorCodes = {
  /** The first byte was NUL, but the first four neither `\0REQ` nor `\0RES`. */
  BAD_MAGIC: 'decode',
  /** A packet type of 0 or beyond the last one. */
  UNKNOWN_COMMAND: 'decode',
  /** The data part ends before its arguments do. */
  MALFORMED_ARGUMENTS: 'decode',
  /** The stated length is over the limit (decode), or over 2^32 - 1 (encode). */
  PACKET_TOO_LARGE: 'both',
  /** A text line is over the limit, ended or not. */
  LINE_TOO_LONG: 'decode',
  /** More or fewer arguments than the packet type has. */
  WRONG_ARGUMENT_COUNT: 'encode',
  /** A NUL in an argument that a NUL would end. */
  NUL_IN_ARGUMENT: 'encode',
  /** A decoder option that is not a positive whole number. */
  INVALID_OPTION: 'setup',
} as const

/** Code of a {@link GearmanCodecError}; stable, so fit for metrics and tests. */
export type CodecErrorCode = keyof typeof codecErrorCodes

/** The only error that this package throws. */
export class GearmanCodecError extends Error {
  readonly code: CodecErrorCode

  constructor(code: CodecErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'GearmanCodecError'
    this.code = code
  }
}
