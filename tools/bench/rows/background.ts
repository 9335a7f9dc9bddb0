import { withGearmand, type RowGroup } from '../bench.ts'
import { figureOf } from '../report/figures.ts'
import type { Driver } from '../load-generator.ts'

const steps = [
  { key: 'submit', words: 'background: submit' },
  { key: 'drain', words: 'background: drain' },
  { key: 'then', words: 'background: submit, then drain' },
  { key: 'both', words: 'background: both together' },
] as const

type Rates = Readonly<Record<(typeof steps)[number]['key'], number>>

/** Jobs a second at each step, 100 bytes each. */
async function rates(driver: Driver, jobs: number): Promise<Rates> {
  const submit = await driver.run('submit', { jobs })
  const drain = await driver.run('drain', { jobs })
  const both = await driver.run('both', { jobs })
  return {
    submit: jobs / submit.seconds,
    drain: jobs / drain.seconds,
    then: jobs / (submit.seconds + drain.seconds),
    both: jobs / both.seconds,
  }
}

/** Background jobs: submitted, and worked on while no client waits for them. */
export const background: RowGroup = {
  name: 'background',
  async measure(bench) {
    const { jobs } = bench.scale
    const turns = { jobsPerTurn: 2 * jobs }
    const [theirs = [], ours = []] = await withGearmand(bench, turns, (driver) =>
      rates(driver, jobs),
    )
    const against = { name: 'gearmand', turns: theirs }
    return steps.map(({ key, words: name }) =>
      figureOf({ name, unit: 'jobs/s' }, key, ours, against),
    )
  },
}
