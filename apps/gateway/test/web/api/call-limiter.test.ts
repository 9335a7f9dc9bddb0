import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiError } from '../../../src/web/api/api-error.ts'
import { answerText } from '../../../src/web/api/answer-text.ts'
import { callBounds, kindOf, unitsOf } from '../../../src/web/api/limits/call-cost.ts'
import { type CallBounds, CallLimiter } from '../../../src/web/api/limits/call-limiter.ts'

const bounds: CallBounds = {
  atOnce: 1,
  waiting: 2,
  waitMs: 5_000,
  minUnits: 10,
  unitsPerSecond: 100,
  burstUnits: 200,
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function limiter(): CallLimiter {
  return new CallLimiter(bounds, () => Date.now())
}

/** A call that lasts until it is told to end. */
function open() {
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { run: () => ended, end: () => end() }
}

async function refused(call: Promise<unknown>): Promise<readonly unknown[]> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ApiError)) throw new Error('it was not refused')
  return [error.code, error.retryAfterSeconds]
}

test('a call is refused for as long as the work of those before it is not earned', async () => {
  const calls = limiter()
  // 200 units are there, and a call may take more than that: 550 are missing then.
  await calls.run(async (onCost) => onCost(750))
  expect(await refused(calls.run(async () => undefined))).toEqual(['too_many_requests', 6])
  vi.advanceTimersByTime(5_400)
  expect(await refused(calls.run(async () => undefined))).toEqual(['too_many_requests', 1])
  vi.advanceTimersByTime(200)
  expect(await calls.run(async () => 'done')).toBe('done')
})

test('a call takes the least even where it fails, and is worth no more than its work', async () => {
  const calls = limiter()
  const failing = calls.run(() => Promise.reject(new Error('the store is away')))
  await expect(failing).rejects.toThrow('the store is away')
  let done = 1
  for (; done < 20; done += 1) await calls.run(async (onCost) => onCost(3))
  // Twenty calls of ten units each.
  expect(await refused(calls.run(async () => undefined))).toEqual(['too_many_requests', 1])
})

test('calls wait in a row of a bounded length, each for a bounded time', async () => {
  const calls = limiter()
  const [first, order] = [open(), [] as string[]]
  const running = calls.run(first.run)
  const second = calls.run(async () => order.push('second'))
  const third = calls.run(async () => order.push('third'))
  expect(await refused(calls.run(async () => undefined))).toEqual(['too_many_requests', 1])
  first.end()
  await Promise.all([running, second, third])
  expect(order).toEqual(['second', 'third'])

  const long = open()
  const holding = calls.run(long.run)
  const late = refused(calls.run(async () => undefined))
  await vi.advanceTimersByTimeAsync(bounds.waitMs)
  expect(await late).toEqual(['too_many_requests', 1])
  long.end()
  await holding
  expect(await calls.run(async () => 'goes on')).toBe('goes on')
})

test('a call that waited is refused where those before it have taken all', async () => {
  const calls = limiter()
  const first = open()
  const running = calls.run(async (onCost) => {
    await first.run()
    onCost(1_000)
  })
  const waiting = refused(calls.run(async () => undefined))
  first.end()
  await running
  expect(await waiting).toEqual(['too_many_requests', 8])
})

const asked = (query: object, body?: object) => ({ params: {}, query, body })

test('long pages, searches and acts on many are heavy, and the calls of a dashboard are light', () => {
  const kinds = (...calls: readonly (readonly [string, object, object?])[]) => [
    ...new Set(calls.map(([name, query, body]) => kindOf(name, asked(query, body)))),
  ]
  const jobs = Array.from({ length: 1_000 }, (_none, at) => String(at))
  expect(
    kinds(
      ['listJobs', { limit: 1_000 }],
      ['listJobs', { text: 'x' }],
      ['listJobs', { older_than_seconds: 1 }],
      ['listJobs', { state: 'retry', limit: 1 }],
      ['listFunctions', { limit: 1_000 }],
      ['listConnections', { limit: 500 }],
      ['listWorkers', { limit: 500 }],
      ['getJob', { max_payload_bytes: 1_000_000 }],
      ['deleteJobs', {}, { filter: {} }],
      ['retryJobs', {}, { jobs }],
      ['dropFunctions', {}, {}],
      ['dropQueues', {}, {}],
    ),
  ).toEqual(['heavy'])
  expect(
    kinds(
      ['listJobs', {}],
      ['listJobs', { limit: 100, state: 'dead' }],
      ['listFunctions', { limit: 50, sort: 'waiting' }],
      ['getJob', {}],
      ['getOverview', {}],
      ['getScale', {}],
      ['watchEvents', {}],
      ['deleteJobs', {}, { jobs: ['1'] }],
      ['getSession', {}],
    ),
  ).toEqual(['light'])
})

test('a call costs by the jobs that it looked at, and by the bytes that it took and gave', () => {
  expect(unitsOf(asked({}), { looked_at: 2_000, jobs: [] }, 100)).toBe(2_000)
  expect(unitsOf(asked({}), { functions: [] }, 512_000)).toBe(1_000)
  // A named job is looked up alone.
  expect(unitsOf(asked({}, { jobs: ['1', '2'] }), { looked_at: 2 }, 100)).toBe(10)
  const page = unitsOf(asked({}), { looked_at: 1_000 }, 400_000)
  const { heavy } = callBounds
  // Twenty pages of a thousand jobs after a quiet time, and five a second from then on.
  expect([heavy.burstUnits / page, heavy.unitsPerSecond / page]).toEqual([20, 5])
})

test('an answer in pieces is the JSON of the whole', async () => {
  vi.useRealTimers()
  const entries = Array.from({ length: 1_000 }, (_none, at) => ({ id: at, text: `"é${at}"` }))
  const bodies = [
    null,
    'text',
    [],
    {},
    entries,
    { jobs: [] },
    { jobs: entries.slice(0, 64) },
    { at: 'now', jobs: entries, none: undefined, names: ['a'], cursor: null },
    { 'a "name"': entries, other: entries.slice(0, 65) },
  ]
  for (const body of bodies) {
    expect((await answerText(body)).toString()).toBe(`${JSON.stringify(body)}\n`)
  }
})
