import { expect, test } from 'vitest'
import { Cached } from '../../../src/operations/metrics/cached.ts'

/** A value that is made when the test says so. */
function startCached() {
  let [made, nowMs] = [0, 0]
  let settle = { done: (): void => undefined, fail: (_error: Error): void => undefined }
  const cached = new Cached(
    1_000,
    () => nowMs,
    () => {
      made += 1
      return new Promise<number>((resolve, reject) => {
        settle = { done: () => resolve(made), fail: reject }
      })
    },
  )
  return {
    get: () => cached.get(),
    pass: (ms: number) => (nowMs += ms),
    done: () => settle.done(),
    fail: (error: Error) => settle.fail(error),
  }
}

test('a value is shared for a second from its start', async () => {
  const { get, pass, done } = startCached()
  const first = get()
  pass(100)
  done()
  expect(await first).toBe(1)
  pass(899)
  expect(get()).toBe(first)
  pass(1)
  const second = get()
  done()
  expect(await second).toBe(2)
})

test('a slow value is computed once at a time, and kept for as long as it took', async () => {
  const { get, pass, done } = startCached()
  const first = get()
  pass(3_000)
  expect(get()).toBe(first)
  done()
  await first
  pass(2_999)
  expect(get()).toBe(first)
  pass(1)
  expect(get()).not.toBe(first)
})

test('a failed value is computed again at once', async () => {
  const { get, fail, done } = startCached()
  const first = get()
  fail(new Error('no store'))
  await expect(first).rejects.toThrow('no store')
  const second = get()
  done()
  expect(await second).toBe(2)
})
