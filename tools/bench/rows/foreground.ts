import { cpuPerJob, inTurn, withServers, type Bench, type RowGroup } from '../bench.ts'
import { atLeast, atMost, type Figure } from '../report/figures.ts'
import { startGearmand } from '../servers.ts'

const sizes = [
  { size: 100, words: '100 B', target: atLeast(0.85), cpuTarget: atMost(1.4) },
  { size: 10_240, words: '10 KB', target: atLeast(0.7), cpuTarget: undefined },
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
      target,
    },
    {
      name: `foreground, ${words}: processor time, Redis included`,
      unit: 'us/job',
      ours: samples(ours, 'microseconds'),
      against: { name: 'gearmand', samples: samples(theirs, 'microseconds') },
      ...(cpuTarget && { target: cpuTarget }),
    },
  ]
}
