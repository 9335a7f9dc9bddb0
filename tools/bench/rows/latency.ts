import { withGearmand, type RowGroup } from '../bench.ts'
import { atMost, type Figure, type Target } from '../report/figures.ts'
import { mergeHistograms, percentile } from '../report/histogram.ts'
import type { Measured } from '../load-generator.ts'

const nanosecondsPerUs = 1000

const percentiles: readonly { percent: number; words: string; target?: Target }[] = [
  { percent: 50, words: 'p50', target: atMost(2) },
  { percent: 99, words: 'p99' },
]

/** A percentile of each turn, in microseconds. */
function percentilesOf(turns: readonly Pick<Measured, 'latency'>[], percent: number): number[] {
  return turns.map(({ latency }) => percentile(latency, percent) / nanosecondsPerUs)
}

/** One job in progress at each of 4 clients: from the write of the submission to the result. */
export const latency: RowGroup = {
  name: 'latency',
  async measure(bench) {
    const jobs = bench.scale.latencyJobs
    const [theirs = [], ours = []] = await withGearmand(bench, { jobsPerTurn: jobs }, (driver) =>
      driver.run('foreground', { jobs, window: 1 }),
    )
    const figures: Figure[] = percentiles.map(({ percent, words, target }) => ({
      name: `latency at window 1: ${words}`,
      unit: 'us',
      ours: percentilesOf(ours, percent),
      against: { name: 'gearmand', samples: percentilesOf(theirs, percent) },
      ...(target && { target }),
    }))
    return [...figures, rare(ours, theirs)]
  },
}

/** One turn has too few jobs for p99.9, so all turns together give it. */
function rare(ours: readonly Measured[], theirs: readonly Measured[]): Figure {
  const [mine, other] = [ours, theirs].map((turns) => {
    const latencies = mergeHistograms(turns.map((turn) => turn.latency))
    return percentile(latencies, 99.9) / nanosecondsPerUs
  })
  return {
    name: 'latency at window 1: p99.9 of all rounds',
    unit: 'us',
    ours: [mine ?? Number.NaN],
    against: { name: 'gearmand', samples: [other ?? Number.NaN] },
  }
}
