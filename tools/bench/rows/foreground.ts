import { cpuPerJob, inTurn, withServers, type Bench, type RowGroup } from '../bench.ts'
import { atLeast, atMost, type Figure } from '../report/figures.ts'
import { startGearmand } from '../servers.ts'

const sizes = [
  { size: 100, words: '100 B', target: atLeast(0.75), cpuTarget: atMost(1.6) },
  { size: 10_240, words: '10 KB', target: undefined, cpuTarget: atMost(2.2) },
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
  { size, words, target, cpuTarget }: (typeof sizes)[number],
): Promise<readonly Figure[]> {
  const jobs = size > 1000 ? bench.scale.jobs / 5 : bench.scale.jobs
  const [theirs, ours] = await withServers([startGearmand, bench.startGateway], (servers) =>
    inTurn(bench, servers, { jobsPerTurn: jobs, size }, async (driver, server) => {
      const run = (): ReturnType<typeof driver.run> => driver.run('foreground', { jobs, size })
      const { result, microseconds } = await cpuPerJob(server, jobs, run)
      return { rate: jobs / result.seconds, microseconds }
    }),
  )
  const samples = (of: typeof ours, key: 'rate' | 'microseconds'): number[] =>
    (of ?? []).map((turn) => turn[key])
  return [
    {
      name: `foreground, ${words}`,
      unit: 'jobs/s',
      ours: samples(ours, 'rate'),
      against: { name: 'gearmand', samples: samples(theirs, 'rate') },
      ...(target && { target }),
    },
    {
      name: `foreground, ${words}: processor time, Redis included`,
      unit: 'us/job',
      ours: samples(ours, 'microseconds'),
      against: { name: 'gearmand', samples: samples(theirs, 'microseconds') },
      target: cpuTarget,
    },
  ]
}

/** Foreground jobs with a unique id each, as libgearman's clients send them, beside jobs without. */
export const uniqueIds: RowGroup = {
  name: 'unique-ids',
  async measure(bench) {
    const { jobs } = bench.scale
    const [theirs = [], ours = []] = await withServers(
      [startGearmand, bench.startGateway],
      (servers) =>
        inTurn(bench, servers, { jobsPerTurn: 2 * jobs }, async (driver, server) => {
          const costOf = async (
            unique: boolean,
          ): Promise<{ rate: number; microseconds: number }> => {
            const run = () => driver.run('foreground', { jobs, unique })
            const { result, microseconds } = await cpuPerJob(server, jobs, run)
            return { rate: jobs / result.seconds, microseconds }
          }
          return { without: await costOf(false), unique: await costOf(true) }
        }),
    )
    const name = 'foreground, unique ids'
    const spent = `${name}: processor time, Redis included`
    const samples = ours.map(({ unique }) => unique.microseconds)
    return [
      {
        name,
        unit: 'jobs/s',
        ours: ours.map(({ unique }) => unique.rate),
        against: { name: 'gearmand', samples: theirs.map(({ unique }) => unique.rate) },
      },
      {
        name: spent,
        unit: 'us/job',
        ours: samples,
        against: { name: 'gearmand', samples: theirs.map(({ unique }) => unique.microseconds) },
      },
      {
        name: `${spent}, against none`,
        unit: 'us/job',
        ours: samples,
        against: {
          name: 'without unique ids',
          samples: ours.map(({ without }) => without.microseconds),
        },
        target: atMost(1.15),
      },
    ]
  },
}
