/** Bounds of the waits that a route gives between retries. */
export const backoffBounds = { maxSeconds: 31_536_000, maxListed: 32 } as const

/** A wait that grows with each failure, seconds: by `step`, or from it twice as long each time; at most `max`. */
export interface GrowingWait {
  readonly kind: 'linear' | 'exponential'
  readonly step: number
  readonly max: number
}

/** The waits of a function's retries: those of a Faktory server, listed ones (the last is repeated), or growing ones. */
export type Backoff = 'faktory' | readonly number[] | GrowingWait

/** Step and bound of growing waits without a number of their own, seconds. */
export const usualGrowth = { step: 10, max: 3_600 } as const

/** As a job carries it: see {@link waitSeconds}. */
export function wordsOf(backoff: Backoff): string {
  if (backoff === 'faktory') return backoff
  if ('kind' in backoff) return `${backoff.kind} ${backoff.step} ${backoff.max}`
  return backoff.join(' ')
}

/**
 * The wait before the next retry, seconds. `count`: earlier failures. Undefined where the Faktory server's rule holds, also for
 * words that no gateway wrote.
 */
export function waitSeconds(words: string | undefined, count: number): number | undefined {
  const [, kind, waits = ''] = /^(linear |exponential |)(\d+(?: \d+)*)$/.exec(words ?? '') ?? []
  if (kind === undefined) return undefined
  const numbers = waits.split(' ').map(Number)
  const [step = 0, max = NaN] = numbers
  const seconds =
    kind === ''
      ? numbers[Math.min(count, numbers.length - 1)]
      : Math.min(max, kind === 'linear ' ? step * (count + 1) : step * 2 ** Math.min(count, 32))
  const isWait = seconds !== undefined && seconds <= backoffBounds.maxSeconds
  return isWait ? seconds : undefined
}
