import { functionFault, isQueueName, LaneNameError } from '@crossgear/core-scheduler'
import type { JobRecord, Reject, RejectReason } from './record.ts'
import type { Fault } from '../target.ts'

/** As at the Gearman door. */
const maxUniqueBytes = 64
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
  const fault = functionFault(fn)
  if (fault !== undefined) return ['bad_function', new LaneNameError(fault).message]
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
