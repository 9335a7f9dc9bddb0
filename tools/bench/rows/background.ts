import { inTurn, withServers, type RowGroup } from '../bench.ts'
import { figureOf } from '../report/figures.ts'
import type { Driver } from '../load-generator.ts'
import { startGateway, startGearmand, startStoringGearmand, type Server } from '../servers.ts'

const steps = [
  { key: 'submit', words: 'submit' },
  { key: 'drain', words: 'drain' },
  { key: 'inTurn', words: 'submit, then drain' },
  { key: 'both', words: 'both together' },
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
    inTurn: jobs / (submit.seconds + drain.seconds),
    both: jobs / both.seconds,
  }
}

/** Background jobs: submitted, and worked on while no client waits for them. */
export const background = groupOf('background', 'background', startGearmand, 1)

/** The same next to a gearmand that stores them, and so gets fewer. */
export const backgroundStored = groupOf('background-stored', 'stored', startStoringGearmand, 1 / 5)

function groupOf(
  name: string,
  prefix: string,
  startOther: () => Promise<Server>,
  share: number,
): RowGroup {
  return {
    name,
    async measure(bench) {
      const jobs = bench.scale.jobs * share
      const turns = { jobsPerTurn: 2 * jobs }
      return withServers([startOther, startGateway], async (servers) => {
        const [theirs = [], ours = []] = await inTurn(bench, servers, turns, (driver) =>
          rates(driver, jobs),
        )
        const against = { name: servers[0]?.name ?? '', turns: theirs }
        return steps.map(({ key, words }) =>
          figureOf({ name: `${prefix}: ${words}`, unit: 'jobs/s' }, key, ours, against),
        )
      })
    },
  }
}
