import { costOf, withGearmand, type Bench, type RowGroup } from '../bench.ts'
import { atLeast, atMost, costFigures, figureOf, type Figure } from '../report/figures.ts'

const sizes = [
  { size: 100, words: '100 B', targets: { rate: atLeast(0.75), microseconds: atMost(1.6) } },
  { size: 10_240, words: '10 KB', targets: { microseconds: atMost(2.2) } },
] as const

/** Foreground jobs: submitted, worked on, and the result back at the client. */
export const foreground: RowGroup = {
  name: 'foreground',
  async measure(bench) {
    const figures: Figure[] = []
    for (const size of sizes) figures.push(...(await measureSize(bench, size)))
    return figures
  },
}

async function measureSize(
  bench: Bench,
  { size, words, targets }: (typeof sizes)[number],
): Promise<readonly Figure[]> {
  const jobs = size > 1000 ? bench.scale.jobs / 5 : bench.scale.jobs
  const turns = { jobsPerTurn: jobs, size }
  const [theirs = [], ours = []] = await withGearmand(bench, turns, (driver, server) =>
    costOf(driver, server, 'foreground', { jobs, size }),
  )
  const against = { name: 'gearmand', turns: theirs }
  return costFigures(`foreground, ${words}`, ours, against, targets)
}

/** Foreground jobs with a unique id each, as libgearman's clients send them, beside jobs without. */
export const uniqueIds: RowGroup = {
  name: 'unique-ids',
  async measure(bench) {
    const { jobs } = bench.scale
    const turns = { jobsPerTurn: 2 * jobs }
    const [theirs = [], ours = []] = await withGearmand(bench, turns, async (driver, server) => ({
      without: await costOf(driver, server, 'foreground', { jobs, unique: false }),
      unique: await costOf(driver, server, 'foreground', { jobs, unique: true }),
    }))
    const name = 'foreground, unique ids'
    const [unique, without] = [ours.map((turn) => turn.unique), ours.map((turn) => turn.without)]
    const against = { name: 'gearmand', turns: theirs.map((turn) => turn.unique) }
    return [
      ...costFigures(name, unique, against),
      figureOf(
        {
          name: `${name}: processor time, Redis included, against none`,
          unit: 'us/job',
          target: atMost(1.15),
        },
        'microseconds',
        unique,
        { name: 'without unique ids', turns: without },
      ),
    ]
  },
}
