import { inTurn, withServers, type Bench, type RowGroup } from '../bench.ts'
import { atLeast, type Figure, figureOf, type Target } from '../report/figures.ts'
import type { Driver } from '../load-generator.ts'
import { startGearmand, type Server } from '../servers.ts'

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

async function compare(
  bench: Bench,
  startOther: () => Promise<Server>,
  jobs: number,
  target: Target,
): Promise<readonly Figure[]> {
  return withServers([startOther, bench.startGateway], async (servers) => {
    const turns = await inTurn(bench, servers, { jobsPerTurn: 2 * jobs }, (driver) =>
      rates(driver, jobs),
    )
    const [theirs = [], ours = []] = turns
    const name = servers[0]!.name
    return steps.map(({ key, words }) => {
      const row = name === 'gearmand' ? words : `${words}, held against ${name}`
      return figureOf({ name: row, unit: 'jobs/s', target }, key, ours, { name, turns: theirs })
    })
  })
}

export const background: RowGroup = {
  name: 'background',
  measure: (bench) => compare(bench, () => startGearmand(), bench.scale.jobs, atLeast(1)),
}

/** gearmand with its Redis queue asks Redis once for each job and waits, so it gets fewer of them. */
export const backgroundKept: RowGroup = {
  name: 'background-redis',
  measure: (bench) =>
    compare(bench, () => startGearmand('redis'), bench.scale.jobs / 5, atLeast(2.5)),
}
