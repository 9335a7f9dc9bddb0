import { isQueueName, maxFunctionBytes } from '@crossgear/core-scheduler'
import type { JobRecord, Reject, RejectReason } from './record.ts'
import type { Fault } from '../target.ts'

/** As at the Gearman door. */
const maxUniqueBytes = 64
const control = /[\0-\x1f\x7f]/
/** Bytes kept of a reject. */
const keptRejectBytes = 65_536

/**
 * The reason why Crossgear's doors would refuse a job. `maxPayloadBytes`: the gateway's
 * `--max-packet-bytes`.
 */
export function faultOf(
  { fn, queue, unique, payload, jid }: JobRecord,
  maxPayloadBytes: number,
): Fault | undefined {
  if (fn === '') return ['bad_function', 'it names no function']
  if (Buffer.byteLength(fn) > maxFunctionBytes) {
    return ['bad_function', `the function's name is longer than ${maxFunctionBytes} bytes`]
  }
  if (control.test(fn)) return ['bad_function', "the function's name has control characters"]
  if (!fn.isWellFormed()) {
    return ['bad_function', "the function's name is no UTF-8"]
  }
  if (queue !== undefined && !isQueueName(queue))
    return ['bad_queue', `no queue is called ${JSON.stringify(queue)}`]
  if (unique && unique.length > maxUniqueBytes) {
    return ['unique_too_long', `the unique id is longer than ${maxUniqueBytes} bytes`]
  }
  if (payload.length > maxPayloadBytes) {
    return [
      'payload_too_long',
      `the payload has ${payload.length} bytes, ${maxPayloadBytes} are taken`,
    ]
  }
  if (jid !== undefined && Buffer.byteLength(jid) > 255) return ['bad_job', 'the jid is too long']
  return undefined
}

/** An item that stays. `raw`: its bytes, of which the first are kept. */
export function rejectOf(
  reason: RejectReason,
  where: string,
  message: string,
  raw: Uint8Array = Buffer.alloc(0),
): Reject {
  return { reason, message, where, raw: Buffer.from(raw.subarray(0, keptRejectBytes)) }
}
