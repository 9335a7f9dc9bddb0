import { expect, test } from 'vitest'
import type { JobRef } from '../../src/model/job.ts'
import { UniqueLookup } from '../../src/admin/job-lookup.ts'

/** A walk that goes on when the test says so. */
function aWalk() {
  const walks: { readonly asked: string[]; readonly end: (error?: Error) => void }[] = []
  const lookup = new UniqueLookup(
    (uniques) =>
      new Promise((resolve, reject) => {
        const asked = uniques.map((unique) => Buffer.from(unique).toString())
        const refs = asked.map((lane): JobRef[] => [{ lane, id: 1 }])
        walks.push({ asked, end: (error) => (error ? reject(error) : resolve(refs)) })
      }),
  )
  return { lookup, walks }
}

test('a search requested during a walk shares the next one, and gets its own answer', async () => {
  const { lookup, walks } = aWalk()
  const answers = ['a', 'b', 'c'].map((unique) => lookup.find(Buffer.from(unique)))
  expect(walks.map(({ asked }) => asked)).toEqual([['a']])
  walks[0]?.end()
  expect(await answers[0]).toEqual([{ lane: 'a', id: 1 }])
  expect(walks[1]?.asked).toEqual(['b', 'c'])
  walks[1]?.end()
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c'].map((lane) => [{ lane, id: 1 }]))
})

test('a failed search fails for all that shared it, and for no others', async () => {
  const { lookup, walks } = aWalk()
  const [one, other] = [lookup.find(Buffer.from('a')), lookup.find(Buffer.from('b'))]
  walks[0]?.end(new Error('away'))
  await expect(one).rejects.toThrow('away')
  walks[1]?.end()
  expect(await other).toEqual([{ lane: 'b', id: 1 }])
})

test('one walk searches for 64 ids at most', async () => {
  const { lookup, walks } = aWalk()
  const answers = Array.from({ length: 100 }, (_none, at) => lookup.find(Buffer.from(String(at))))
  walks[0]?.end()
  await answers[0]
  expect(walks[1]?.asked).toHaveLength(64)
  walks[1]?.end()
  await answers[64]
  expect(walks[2]?.asked).toHaveLength(35)
  walks[2]?.end()
  await Promise.all(answers)
})
