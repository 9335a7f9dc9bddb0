import { expect, test } from 'vitest'
import { ProcessFigures } from '../../../src/operations/metrics/metrics.ts'

const eventLoop = 'nodejs_eventloop_lag_'

/** The figures of a scrape. */
async function scrape(figures: ProcessFigures) {
  return Promise.all((await figures.figures()).map((figure) => figure.get()))
}

test('a scrape before the event loop was measured has no figure of it, and a later one has all', async () => {
  const figures = new ProcessFigures()
  const first = await scrape(figures)
  expect(first.length).toBeGreaterThan(10)
  expect(first.filter(({ name }) => name.startsWith(eventLoop))).toEqual([])
  const values = first.flatMap((figure) => figure.values.map(({ value }) => value))
  expect(values.filter((value) => !Number.isFinite(value))).toEqual([])
  await expect
    .poll(async () =>
      (await scrape(figures))
        .filter(({ name }) => name.startsWith(eventLoop))
        .flatMap((figure) => figure.values.map(({ value }) => value))
        .filter((seconds) => seconds >= 0 && seconds < 60),
    )
    .toHaveLength(8)
})
