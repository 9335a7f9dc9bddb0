import { createHash } from 'node:crypto'
import type { Submission } from './gearmand.ts'

const priorities = ['high', 'normal', 'low'] as const

/** Jobs of all kinds that a Gearman client can submit: NULs, no UTF-8, empty, long unique ids, all priorities, later. */
export function assortedJobs(count: number, epoch: number): Submission[] {
  return Array.from({ length: count }, (_none, at) => ({
    fn: at % 3 === 0 ? 'mail' : `report-${at % 2}`,
    unique: at % 5 === 0 ? createHash('sha256').update(String(at)).digest('hex') : `u${at}`,
    data: payloadOf(at),
    priority: priorities[at % 3] ?? 'normal',
    ...(at % 10 === 9 && { epoch: epoch + at }),
  }))
}

const payloads: readonly ((at: number) => Buffer)[] = [
  (at) => Buffer.from(`job ${at}`),
  (at) => Buffer.from([0, at % 256, 0, 255, 254]),
  () => Buffer.alloc(0),
  (at) => Buffer.from(JSON.stringify([12_345_678_901, at, 'ü'])),
  (at) => Buffer.alloc(3_000, at % 256),
]

function payloadOf(at: number): Buffer {
  return payloads[at % payloads.length]?.(at) ?? Buffer.alloc(0)
}
