import { expect, test } from 'vitest'
import { ProcessFigures } from '../../../src/operations/metrics/process-figures.ts'

const eventLoop = 'nodejs_eventloop_lag_'

test('a scrape before the event loop was measured has no figure of it, and a later one has all', async () => {
  const figures = new ProcessFigures()
  const first = await figures.figures()
  expect(first.length).toBeGreaterThan(10)
  expect(first.filter(({ name }) => name.startsWith(eventLoop))).toEqual([])
  expect(first.flatMap(({ values }) => values).filter((value) => !Number.isFinite(value))).toEqual(
    [],
  )
  await expect
    .poll(async () =>
      (await figures.figures())
        .filter(({ name }) => name.startsWith(eventLoop))
        .flatMap(({ values }) => values)
        .filter((seconds) => seconds >= 0 && seconds < 60),
    )
    .toHaveLength(8)
})
