import { describe, expect, test } from 'vitest'
import type { FailedJob, FailureRuling, Job } from '@crossgear/core-scheduler'
import { type Backoff, wordsOf } from '../../src/bridge/backoff.ts'
import { FaktoryRetries } from '../../src/bridge/faktory-retries.ts'
import { retryAfterSeconds } from '../../src/bridge/faktory-retries.ts'

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 6)

function held(over: Partial<Job> = {}): FailedJob {
  return {
    lane: 'mail',
    id: 7,
    token: 't-1',
    status: 'busy',
    door: 'faktory',
    level: 5,
    input: Buffer.alloc(0),
    losses: 0,
    settled: false,
    foreground: false,
    waiting: 0,
    ...over,
  }
}

const afterFailures = (count: number): Partial<Job> =>
  count === 0 ? {} : { failure: JSON.stringify({ retry_count: count - 1 }) }

function failing(over: Partial<Job>, random = 0): FailureRuling {
  return new FaktoryRetries(() => random).ofFailure(held(over), { message: 'broken' }, nowMs)
}

/** The record of a ruling, which must be of this kind. */
function recordOf(ruling: FailureRuling, kind: FailureRuling['kind']): Record<string, unknown> {
  expect(ruling.kind).toBe(kind)
  return JSON.parse(ruling.record ?? '') as Record<string, unknown>
}

/** The attempts that a record lists after one more failure. */
function attemptsIn(before: object, message: string): unknown {
  const job = held({ failure: JSON.stringify(before) })
  const report = { message, errtype: 'Oops' }
  return recordOf(new FaktoryRetries(() => 0).ofFailure(job, report, nowMs), 'retry')['attempts']
}

describe('the attempts in a record', () => {
  const now = { at: '2026-01-02T03:04:05.006Z', errtype: 'Oops' }

  test('are the newest ten', () => {
    const attempts = Array.from({ length: 10 }, (_, at) => {
      return { at: `2026-01-01T00:00:0${at}Z`, errtype: 'E', message: `no ${at}` }
    })
    const newest = [...attempts.slice(1), { ...now, message: 'broken' }]
    expect(attemptsIn({ retry_count: 9, attempts }, 'broken')).toEqual(newest)
  })

  test('have the first line of the message, cut at 200 characters, in whole characters', () => {
    const before = { retry_count: 0, errtype: 'E', message: 'one\r\ntwo' }
    expect(attemptsIn(before, `${'x'.repeat(199)}\u{1F389}`)).toEqual([
      { errtype: 'E', message: 'one' },
      { ...now, message: `${'x'.repeat(199)}\uFFFD` },
    ])
  })

  test('begin with the last error of a record without a list, at its time if that is known', () => {
    const failedAt = '2026-01-01T00:00:00Z'
    const before = { failed_at: failedAt, errtype: 'Old', message: 'was' }
    const old = { errtype: 'Old', message: 'was' }
    const latest = { ...now, message: 'is' }
    expect(attemptsIn({ ...before, retry_count: 0 }, 'is')).toEqual([
      { at: failedAt, ...old },
      latest,
    ])
    expect(attemptsIn({ ...before, retry_count: 3 }, 'is')).toEqual([old, latest])
    expect(attemptsIn({ retry_count: 3 }, 'is')).toBeUndefined()
  })

  test('of another program are read as far as they make sense', () => {
    const at = '0000-01-01T00:00:00+23:59'
    const attempts = [null, 7, { at: 1, errtype: [], message: {} }, { at, message: 'm' }]
    expect(attemptsIn({ retry_count: 1, attempts }, 'is')).toEqual([
      { errtype: 'unknown', message: '' },
      { at, errtype: 'unknown', message: 'm' },
      { ...now, message: 'is' },
    ])
  })
})

describe('the outcome of a failure', () => {
  test.each([
    [0, 0, 'fail'],
    [-1, 0, 'dead'],
    [-7, 0, 'dead'],
    [1, 0, 'retry'],
    [1, 1, 'dead'],
    [3, 2, 'retry'],
    [3, 3, 'dead'],
    [undefined, 0, 'retry'],
    [undefined, 24, 'retry'],
    [undefined, 25, 'dead'],
  ])('with retry %s and %i failures before it: %s', (retries, failures, kind) => {
    const policy = retries === undefined ? {} : { retries }
    expect(failing({ ...policy, ...afterFailures(failures) }).kind).toBe(kind)
  })

  test.each(['-1', '1.5', '1e400', '"7"', 'null', '[]'])(
    'counts from 0 after a record with the retry_count %s, which no gateway writes',
    (count) => {
      const ruling = failing({ retries: 1, failure: `{"retry_count":${count}}` })
      expect(ruling).toMatchObject({
        kind: 'retry',
        record: expect.stringContaining('"retry_count":0') as string,
      })
    },
  )

  test('delays no retry beyond a time that has a name', () => {
    const max = Number.MAX_SAFE_INTEGER
    const ruling = failing({ retries: max, failure: `{"retry_count":${max - 2}}` })
    expect(ruling).toMatchObject({ kind: 'retry', delayMs: 3_155_760_000_000 })
  })

  test.each(['gearman', 'http', 'native'] as const)(
    'by the door %s it is final unless retries are asked for',
    (door) => {
      expect(failing({ door }).kind).toBe('fail')
      expect(failing({ door, retries: 2 }).kind).toBe('retry')
    },
  )

  test('a final failure is kept for operators, unless the producer keeps no dead jobs', () => {
    expect(recordOf(failing({ door: 'gearman' }), 'fail')).toEqual({
      retry_count: 0,
      failed_at: '2026-01-02T03:04:05.006Z',
      message: 'broken',
      errtype: 'unknown',
      remaining: 0,
    })
    expect(failing({ door: 'faktory', retries: 0 })).not.toHaveProperty('record')
  })

  test.each(['gearman', 'http'] as const)(
    'a background job from door %s that the automatic rule handed out is retried like a Faktory job',
    (door) => {
      const token = 'anode-1'
      expect(failing({ door, token })).toMatchObject({ kind: 'retry', delayMs: 15_000 })
      expect(failing({ door, token, ...afterFailures(25) }).kind).toBe('dead')
      expect(failing({ door, token, retries: 0 }).kind).toBe('fail')
      expect(failing({ door, token, foreground: true }).kind).toBe('fail')
      expect(failing({ door, token: 'cnode-1' }).kind).toBe('fail')
      // A native client may wait for it.
      expect(failing({ door: 'native', token })).toHaveProperty('record')
      expect(failing({ door: 'native', token }).kind).toBe('fail')
    },
  )

  // count^4 + 15 + rand(0..29) * (count + 1) seconds
  test.each([
    [0, 0, 15],
    [0, 0.999, 15 + 29],
    [1, 0, 16],
    [1, 0.5, 16 + 15 * 2],
    [2, 0.1, 31 + 3 * 3],
    [5, 0, 640],
    [24, 0.999, 331_776 + 15 + 29 * 25],
  ])(
    'after %i failures and a random %d the next attempt is in %i s',
    (failures, random, seconds) => {
      const outcome = failing(afterFailures(failures), random)
      expect(outcome).toMatchObject({ delayMs: seconds * 1000 })
      expect(recordOf(outcome, 'retry')).toMatchObject({
        next_at: new Date(nowMs + seconds * 1000).toISOString(),
      })
    },
  )

  test('the failure has the fields that Faktory’s clients read', () => {
    const backtrace = ['a.rb:1', 'b.rb:2']
    const outcome = new FaktoryRetries(() => 0).ofFailure(
      held({ retries: 3, ...afterFailures(1) }),
      { message: 'broken', errtype: 'Oops', backtrace },
      nowMs,
    )
    expect(recordOf(outcome, 'retry')).toEqual({
      retry_count: 1,
      failed_at: '2026-01-02T03:04:05.006Z',
      next_at: '2026-01-02T03:04:21.006Z',
      message: 'broken',
      errtype: 'Oops',
      backtrace,
      remaining: 2,
    })
  })

  test('a dead job’s failure names no next attempt', () => {
    expect(recordOf(failing({ retries: -1 }), 'dead')).toEqual({
      retry_count: 0,
      failed_at: '2026-01-02T03:04:05.006Z',
      message: 'broken',
      errtype: 'unknown',
      remaining: -1,
    })
  })
})

describe('the wait before a retry', () => {
  const delays = (backoff: string, counts: readonly number[]): unknown[] =>
    counts.map((count) => {
      const ruling = failing({ ...afterFailures(count), backoff, retries: 100 })
      return ruling.kind === 'retry' ? ruling.delayMs / 1000 : ruling.kind
    })

  test.each<readonly [Backoff, readonly number[]]>([
    [[7], [7, 7, 7, 7]],
    [[0], [0, 0, 0, 0]],
    [
      [5, 60, 600],
      [5, 60, 600, 600],
    ],
    [{ kind: 'linear', step: 10, max: 25 }, [10, 20, 25, 25]],
    [{ kind: 'exponential', step: 10, max: 60 }, [10, 20, 40, 60]],
    ['faktory', [15, 16, 31, 96]],
  ])('of %j is %j s', (backoff, expected) => {
    expect(delays(wordsOf(backoff), [0, 1, 2, 3])).toEqual(expected)
  })

  test('stays within its bound after any number of failures', () => {
    expect(delays('exponential 1 3600', [99])).toEqual([3600])
    expect(delays('linear 3600 31536000', [99])).toEqual([360_000])
  })

  test.each(['', 'soon', 'linear', 'linear x y', 'linear -5 5', '1 2 x', '1e99', 'cubic 1 2'])(
    'is the Faktory server’s for words that no gateway wrote: %j',
    (words) => {
      expect(delays(words, [2])).toEqual([31])
    },
  )

  test('is what the worker asks for, where it is obeyed', () => {
    const report = { message: 'retry-after: 90' }
    const rules = new FaktoryRetries(() => 0)
    const job = held({ backoff: '5' })
    expect(rules.ofFailure(job, report, nowMs, true)).toMatchObject({ delayMs: 90_000 })
    expect(rules.ofFailure(job, report, nowMs, false)).toMatchObject({ delayMs: 5_000 })
    const dead = { ...job, retries: 0, door: 'gearman' } as const
    expect(rules.ofFailure(dead, report, nowMs, true)).toMatchObject({ kind: 'fail' })
  })
})

test.each<readonly [string, number | undefined]>([
  ['retry-after: 5', 5],
  ['Retry-After:\t60 and words', 60],
  ['retry-after: 0', 0],
  ['retry-after: 86401', 86_400],
  ['retry-after: 9999999999', undefined],
  ['retry-after: -5', undefined],
  ['retry-after 5', undefined],
  [' retry-after: 5', undefined],
  ['', undefined],
])('%j asks for %j s', (message, seconds) => {
  expect(retryAfterSeconds(message)).toBe(seconds)
})
