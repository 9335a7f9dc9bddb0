import { describe, it, test, type TestOptions } from 'vitest'

/** Keeps a changed function from being changed again for the next file. */
const isNoting = Symbol.for('crossgear.noting-skips')

type Body = (...args: never[]) => unknown
type Declare = (name: string, first?: TestOptions | Body, second?: Body | number) => unknown
type Skip = Declare & { each: (...cases: never[]) => Declare }
interface Api {
  skip: Skip
  skipIf: ((condition: unknown) => unknown) & { [isNoting]?: true }
}

/** Declares a skipped test, or a suite of such, with what it lacks for the reporter. */
function noting(declare: Declare, lacks: string): Declare {
  return (name, first, second) => {
    const [options, body] = typeof first === 'function' ? [{}, first] : [first, second]
    return declare(name, { ...options, meta: { ...options?.meta, lacks } }, body)
  }
}

/** A reason in words for `skipIf`, see `lacks.ts`, is noted in each test that it skips. */
for (const api of [describe, it, test] as unknown as Api[]) {
  const { skipIf } = api
  if (skipIf[isNoting]) continue
  const noted = (condition: unknown): unknown => {
    if (typeof condition !== 'string') return skipIf.call(api, condition)
    const { skip } = api
    return Object.assign(noting(skip, condition), {
      each: (...cases: never[]) => noting(skip.each(...cases), condition),
    })
  }
  api.skipIf = Object.assign(noted, { [isNoting]: true as const })
}
