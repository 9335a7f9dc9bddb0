import type { Buffer } from 'node:buffer'
import { encodeResponse } from './encoder.ts'

/** Content of an ERROR packet. */
export interface ErrorPacket {
  readonly code: string
  readonly text: string
}

/** Every ERROR packet that a server sends, by its cause. */
export const errorPackets = {
  /** A packet with the magic of a response came in. */
  WRONG_MAGIC: { code: 'INVALID_MAGIC', text: 'Request magic expected' },
  /** A packet that only a server sends, or an unknown or unsupported one. */
  COMMAND_NOT_EXPECTED: { code: 'INVALID_COMMAND', text: 'Command not expected' },
  /** A unique id or a reducer over {@link maxUniqueBytes}. */
  UNIQUE_TOO_LARGE: { code: 'ARGUMENT_TOO_LARGE', text: 'Unique value too large' },
  /** The limit of `maxqueue` is reached. */
  QUEUE_FULL: { code: 'QUEUE_ERROR', text: 'Job queue is full' },
  /** OPTION_REQ for an unknown option. */
  UNKNOWN_OPTION: { code: 'UNKNOWN_OPTION', text: 'Server does not recognize given option' },
  /** WORK_COMPLETE, WORK_FAIL or WORK_STATUS for a job that the worker does not have. */
  RESULT_WITHOUT_JOB: { code: 'JOB_NOT_FOUND', text: 'Job given in work result not found' },
  /** WORK_DATA or WORK_WARNING for a job that the worker does not have. */
  DATA_WITHOUT_JOB: { code: 'JOB_NOT_FOUND', text: 'Job does not exist on server' },
  /** WORK_EXCEPTION for a job that the worker does not have. */
  EXCEPTION_WITHOUT_JOB: {
    code: 'JOB_NOT_FOUND',
    text: 'An exception was received for a job that does not exist',
  },
} as const satisfies Record<string, ErrorPacket>

/** Key of {@link errorPackets}. */
export type ErrorPacketKey = keyof typeof errorPackets

/** The ERROR packet of the catalogue as bytes. */
export function encodeError(key: ErrorPacketKey): Buffer {
  const { code, text } = errorPackets[key]
  return encodeResponse('ERROR', code, text)
}
