import { afterEach, describe, expect, test, vi } from 'vitest'
import { playsAll, sampleOf, samplePairs } from '../testing/sample.ts'

const cases = Array.from({ length: 50 }, (_, at) => at)
const commits = Array.from({ length: 100 }, (_, at) => `commit ${at}`)

/** Runs something as a run of this commit does. */
function at<Result>(commit: string, run: () => Result): Result {
  vi.stubEnv('TEST_SAMPLE', commit)
  return run()
}

afterEach(() => vi.unstubAllEnvs())

describe('the sample of a matrix', () => {
  test('is one in so many cases, the same for the same commit', () => {
    const sample = at('one commit', () => sampleOf(cases, 8))
    expect([6, 7]).toContain(sample.length)
    expect(at('one commit', () => sampleOf(cases, 8))).toEqual(sample)
  })

  test('comes to all cases in the commits of a week', () => {
    const played = commits.flatMap((commit) => at(commit, () => sampleOf(cases, 8)))
    expect(new Set(played).size).toBe(cases.length)
  })

  test.each([
    [5, 5],
    [3, 4],
    [4, 3],
    [1, 6],
  ])('of %i and %i has each at least once, and all pairs in a week', (ones, others) => {
    const pairs = () => samplePairs(cases.slice(0, ones), cases.slice(0, others))
    const sample = at('one commit', pairs)
    expect(sample).toHaveLength(Math.max(ones, others))
    expect(new Set(sample.map(([one]) => one)).size).toBe(ones)
    expect(new Set(sample.map(([, other]) => other)).size).toBe(others)
    const played = commits.flatMap((commit) => at(commit, pairs)).map((pair) => pair.join())
    expect(new Set(played).size).toBe(ones * others)
  })

  test.each(['all', undefined])('is the whole matrix with TEST_SAMPLE=%s', (sample) => {
    vi.stubEnv('TEST_SAMPLE', sample)
    expect(playsAll()).toBe(true)
    expect(sampleOf(cases, 8)).toEqual(cases)
    expect(samplePairs(cases, cases)).toHaveLength(cases.length ** 2)
  })
})
