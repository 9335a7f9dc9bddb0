import {
  type CodecErrorCode,
  encodeError,
  encodeResponse,
  type ErrorPacketKey,
} from '@crossgear/gearman-codec'
import type { HandshakeFault } from '../net/tls.ts'
import type { Surplus } from '../net/open-port.ts'

/** ERROR packets for requests that gearmand takes and the store cannot keep. */
const ownErrors = {
  EMPTY_FUNCTION: { code: 'INVALID_FUNCTION_NAME', text: 'Function name is empty' },
  FUNCTION_TOO_LARGE: { code: 'ARGUMENT_TOO_LARGE', text: 'Function name is over 512 bytes' },
  BAD_NAME: { code: 'INVALID_FUNCTION_NAME', text: 'Function name has control characters' },
  FUNCTION_NOT_UTF8: { code: 'INVALID_FUNCTION_NAME', text: 'Function name is not UTF-8' },
  NEW_FUNCTION_LIMIT: {
    code: 'TOO_MANY_FUNCTIONS',
    text: 'No more new functions from your address',
  },
  NO_WORKERS: { code: 'QUEUE_ERROR', text: 'No worker is there for the function' },
  NEVER_DUE: { code: 'INVALID_ARGUMENT', text: 'No moment matches the schedule' },
} as const

export type ErrorKey = ErrorPacketKey | keyof typeof ownErrors

/** An ERROR packet as bytes. */
export function errorReply(key: ErrorKey): Buffer {
  if (!(key in ownErrors)) return encodeError(key as ErrorPacketKey)
  const { code, text } = ownErrors[key as keyof typeof ownErrors]
  return encodeResponse('ERROR', code, text)
}

/** Text replies that the codec has not. */
export const ownTexts = {
  notAllowed: 'ERR NOT_ALLOWED This+command+is+not+taken+from+your+address\r\n',
} as const

/** The text reply in place of one that the store did not give. */
export function storeFailedLine(text: string): string {
  return `ERR STORE_UNAVAILABLE ${text.replaceAll(/\s+/g, '+')}\r\n`
}

/** The ERROR packet for what the store did not do. */
export function storeFailedReply(text: string): Buffer {
  return encodeResponse('ERROR', 'QUEUE_ERROR', text)
}

/** Errors of the decoder; the other codes are misuse of the codec. */
type DecodeFault = Extract<
  CodecErrorCode,
  'BAD_MAGIC' | 'UNKNOWN_COMMAND' | 'MALFORMED_ARGUMENTS' | 'PACKET_TOO_LARGE' | 'LINE_TOO_LONG'
>

/** Reasons of rejections in the metrics. */
export type RejectReason =
  | Surplus
  | HandshakeFault
  | 'not_allowed'
  | 'too_many_functions'
  | 'store'
  | Lowercase<ErrorKey>
  | Lowercase<DecodeFault>

/** The reason for an ERROR packet. */
export function reasonOf(key: ErrorKey): RejectReason {
  return key.toLowerCase() as RejectReason
}
