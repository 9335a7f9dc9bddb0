import type { LaneName } from './lanes.ts'

/** Longest {@link NewJob.turn}, bytes. */
export const maxTurnBytes = 128

/** Most values of a function by which jobs take turns; further ones share one turn. */
export const maxTurns = 10_000

/** No queue has a colon in its name. */
const prefix = 'function:'

/** The name of a function's limit. That of a queue is the queue. */
export function functionLimit(fn: string): string {
  return prefix + fn
}

/** The function of a limit; undefined for one of a queue. */
export function limitedFunction(name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}

/** Names of the limits that a lane may have. */
export function limitNames({
  fn,
  queue,
}: LaneName): readonly [ofQueue: string, ofFunction: string] {
  return [queue, functionLimit(fn)]
}
