import type { CodecErrorCode } from '@crossgear/gearman-codec'
import type { Surplus } from '../net/open-port.ts'
import type { ErrorKey } from './replies.ts'

/** What the decoder throws; the other codes are mistakes of a program that uses the codec. */
type DecodeFault = Extract<
  CodecErrorCode,
  'BAD_MAGIC' | 'UNKNOWN_COMMAND' | 'MALFORMED_ARGUMENTS' | 'PACKET_TOO_LARGE' | 'LINE_TOO_LONG'
>

/** Why something was turned away, as the metrics name it. */
export type RejectReason =
  | Surplus
  | 'tls_handshake'
  | 'not_allowed'
  | 'store'
  | Lowercase<Exclude<ErrorKey, 'QUEUE_FAILED'>>
  | Lowercase<DecodeFault>

/** The reason behind an ERROR packet: that the store does not answer has one name at every door. */
export function reasonOf(key: ErrorKey): RejectReason {
  return key === 'QUEUE_FAILED' ? 'store' : (key.toLowerCase() as RejectReason)
}
