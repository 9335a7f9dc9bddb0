import { expect, test } from 'vitest'
import { LaneNames } from '../../src/model/lanes.ts'
import { RetryPolicy } from '../../src/model/retry-policy.ts'
import type { RouteTerms } from '../../src/model/route-terms.ts'
import {
  noRetries,
  type FailedJob,
  type FailureRuling,
  type RetryRules,
} from '../../src/model/retry-rules.ts'

const job: FailedJob = {
  lane: 'mail@bulk',
  id: 7,
  token: 't-1',
  status: 'busy',
  door: 'gearman',
  level: 5,
  losses: 0,
  settled: false,
  foreground: false,
  waiting: 0,
}
const ref = { lane: 'mail@bulk', id: 7, token: 't-1' }
const message = Buffer.from('broken')

function policyOf(rules: RetryRules, routes?: ReadonlyMap<string, RouteTerms>): RetryPolicy {
  const storeClock = { storeNowMs: () => 5_000 }
  return new RetryPolicy({ names: new LaneNames(), routes, rules, storeClock, maxLosses: 2 })
}

const ruledBy = (ruling: FailureRuling): RetryPolicy =>
  policyOf({ ...noRetries, ofFailure: () => ruling })

test("the policy's decision becomes the outcome, with its delay and its record", () => {
  const report = { message: 'broken', isException: true }
  expect(ruledBy({ kind: 'retry', record: 'r', delayMs: 9 }).ofFailure(job, report)).toEqual({
    ...ref,
    kind: 'retry',
    message,
    failure: 'r',
    delayMs: 9,
  })
  expect(ruledBy({ kind: 'dead', record: 'r' }).ofFailure(job, report)).toEqual({
    ...ref,
    kind: 'dead',
    message,
    failure: 'r',
  })
  expect(ruledBy({ kind: 'fail', record: 'r' }).ofFailure(job, report)).toEqual({
    ...ref,
    kind: 'fail',
    message,
    isException: true,
    failure: 'r',
  })
  expect(ruledBy({ kind: 'fail' }).ofFailure(job, report)).not.toHaveProperty('failure')
})

test('a route’s retries apply to a job without a number of its own, at the store’s time', () => {
  const seen: unknown[] = []
  const rules: RetryRules = {
    ofFailure(failed, _report, nowMs) {
      seen.push([failed.retries, nowMs])
      return { kind: 'fail' }
    },
    lateReport: { message: 'late' },
    ofLosses: (nowMs) => `lost at ${nowMs}`,
  }
  const policy = policyOf(rules, new Map([['mail', { retries: 3 }]]))
  policy.ofFailure(job, { message: '' })
  policy.ofFailure({ ...job, retries: 0 }, { message: '' })
  policy.ofFailure({ ...job, lane: 'sms' }, { message: '' })
  expect(seen).toEqual([
    [3, 5_000],
    [0, 5_000],
    [undefined, 5_000],
  ])
  expect(policy.ofLoss()).toEqual({ maxLosses: 2, failure: 'lost at 5000' })
})

test('without rules every failure is final', () => {
  expect(policyOf(noRetries).ofFailure({ ...job, retries: 3 }, { message: 'broken' })).toEqual({
    ...ref,
    kind: 'fail',
    message,
    isException: false,
    failure: '{"message":"broken"}',
  })
})

test('messages that are not UTF-8 reach clients unchanged', () => {
  const bytes = Buffer.from([0xff, 0xfe])
  const outcome = policyOf(noRetries).ofFailure(job, { message: '\uFFFD\uFFFD', bytes })
  expect(outcome).toMatchObject({ message: bytes })
})
