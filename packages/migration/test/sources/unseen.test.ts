import { expect, test } from 'vitest'
import { run } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import type { Source } from '../../src/source.ts'
import { reasonsOf } from '../../src/sources/others.ts'
import type { Target } from '../../src/target.ts'

const source: Source = {
  identity: 'unseen',
  limits: [],
  ...reasonsOf({ count: 0, unseen: 'nobody may look' }, 'somebody'),
  async *pages() {},
  remove: () => Promise.resolve(),
  close: () => Promise.resolve(),
}
const target: Target = {
  store: () => Promise.resolve([]),
  close: () => Promise.resolve(),
}

test.each([true, false])(
  'a source of which nobody can tell if it is in use is refused (move: %s), unless it is said to be stopped',
  async (isMove) => {
    const attempt = (more: object) =>
      run({ source, target, selection: new Selection(), options: { name: 'm', isMove, ...more } })
    await expect(attempt({})).rejects.toThrow(
      'It cannot be told whether the source is in use: nobody may look. Stop its server and use --stopped.',
    )
    await expect(attempt({ isStopped: true })).resolves.toMatchObject({ isStopped: false })
  },
)

test('a source that is seen to be in use is not made free by what cannot be seen', () => {
  expect(reasonsOf({ count: 2, unseen: 'more' }, 'two of them')).toEqual({
    liveReason: 'two of them',
  })
  expect(reasonsOf({ count: 0 }, 'none')).toEqual({})
})
