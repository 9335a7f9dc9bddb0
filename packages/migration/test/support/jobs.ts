import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { Submission } from '@crossgear/tools/gearmand'
import type { TestTarget } from './target.ts'

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

const levels = { high: 8, normal: 5, low: 2 } as const

/** Expects each job once in the store, as its client submitted it. `maxUniqueChars`: what its server kept of a unique id. */
export async function expectArrived(
  target: TestTarget,
  submitted: readonly Submission[],
  maxUniqueChars = 63,
): Promise<void> {
  const unique = (text: string): string => text.slice(0, maxUniqueChars)
  const expected = submitted.map(({ fn, unique: id, data, priority = 'normal', epoch }) => [
    fn,
    unique(id),
    data.toString('hex'),
    epoch === undefined ? levels[priority] : levels.normal,
    epoch,
  ])
  const found: unknown[][] = []
  for (const fn of new Set(submitted.map((one) => one.fn))) {
    for (const { job, dueAtMs } of await target.jobs(fn)) {
      const due = dueAtMs === undefined ? undefined : dueAtMs / 1000
      const { input, level } = job
      found.push([fn, unique(String(job.unique)), input.toString('hex'), level, due])
    }
  }
  const sorted = (rows: readonly unknown[][]) => rows.map((row) => row.join(' ')).sort()
  expect(sorted(found)).toEqual(sorted(expected))
}
