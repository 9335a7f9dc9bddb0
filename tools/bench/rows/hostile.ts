import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Flood, floods } from '../../testing/floods/floods.ts'
import type { Bench, RowGroup } from '../bench.ts'
import type { Driver } from '../load-generator.ts'
import { peakBytes, residentBytes, sumOver } from '../processes.ts'
import { atMost, type Figure, type Judged } from '../report/figures.ts'
import { type Cells, mergeHistograms, percentile } from '../report/histogram.ts'
import { spreadOf } from '../report/statistics.ts'
import { formatNumber, formatRows } from '../report/table.ts'
import { type Gateway, startGateway } from '../servers.ts'

const turnMs = 1_000
/** Jobs of honest clients in a phase; a turn ends with the phase in which its time is over. */
const jobsPerPhase = 100
const maxJobs = 1_000_000
const maxRounds = 3
const nanosecondsPerUs = 1_000
const mib = 1024 * 1024
const usPerMs = 1_000
const figuresPerFlood = 3

/** Honest clients: 4 with one foreground job at a time, and 4 workers. */
interface Honest {
  readonly us: number
  readonly rate: number
}

/** Each attack on a gateway of its own, in turns with none. */
export const hostile: RowGroup = {
  name: 'hostile',
  async measure(bench) {
    const figures: Figure[] = []
    for (const flood of floods) figures.push(...(await measureFlood(bench, flood)))
    return figures
  },
  table: tableOf,
}

async function measureFlood({ generator, scale }: Bench, flood: Flood): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-hostile-'))
  const gateway = await startGateway({
    http: true,
    web: true,
    words: flood.tls ? tlsWords(folder) : [],
  })
  const driver = generator.drive(gateway, maxJobs)
  const quiet: Honest[] = []
  const attacked: Honest[] = []
  try {
    await honest(driver)
    const before = sumOver(gateway.ownPids, residentBytes)
    for (let round = 0; round < Math.min(scale.rounds, maxRounds); round++) {
      quiet.push(await honest(driver))
      attacked.push(await underAttack(flood, gateway, driver))
    }
    const peak = sumOver(gateway.ownPids, peakBytes)
    return figuresOf(flood, { quiet, attacked }, { before, peak })
  } finally {
    await driver.stop()
    await gateway.stop()
    rmSync(folder, { recursive: true })
  }
}

async function underAttack(flood: Flood, gateway: Gateway, driver: Driver): Promise<Honest> {
  const { port: gearman, faktoryPort: faktory, httpPort: http, webPort: web } = gateway
  const sockets = await flood.begin({ gearman, faktory, http, web })
  try {
    return await honest(driver)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

async function honest(driver: Driver): Promise<Honest> {
  const cells: Cells[] = []
  let [jobs, seconds] = [0, 0]
  for (const endMs = performance.now() + turnMs; performance.now() < endMs;) {
    const phase = await driver.run('foreground', { jobs: jobsPerPhase, window: 1 })
    cells.push(phase.latency)
    jobs += jobsPerPhase
    seconds += phase.seconds
  }
  const us = percentile(mergeHistograms(cells), 50) / nanosecondsPerUs
  return { us, rate: jobs / seconds }
}

function figuresOf(
  { name }: Flood,
  { quiet, attacked }: Readonly<Record<'quiet' | 'attacked', readonly Honest[]>>,
  { before, peak }: Readonly<Record<'before' | 'peak', number>>,
): readonly Figure[] {
  const pair = (key: keyof Honest) => ({
    ours: attacked.map((turn) => turn[key]),
    against: { name: 'without', samples: quiet.map((turn) => turn[key]) },
  })
  return [
    { name: `${name}: p50`, unit: 'us', ...pair('us'), target: atMost(5) },
    { name: `${name}: results`, unit: 'jobs/s', ...pair('rate') },
    {
      name: `${name}: memory`,
      unit: 'MB',
      ours: [peak / mib],
      against: { name: 'without', samples: [before / mib] },
    },
  ]
}

const headings = ['attack', 'p50 ms', 'ratio', 'results/s', 'memory MB']

/** A line for each attack: each figure without it and with it. */
function tableOf(figures: readonly Judged[]): string {
  const rows: string[][] = []
  for (let at = 0; at < figures.length; at += figuresPerFlood) {
    const [p50, rate, memory] = figures.slice(at, at + figuresPerFlood)
    rows.push([
      p50?.name.split(':', 1)[0] ?? '',
      pairOf(p50, usPerMs),
      formatNumber(p50?.ratio?.median ?? Number.NaN),
      pairOf(rate),
      pairOf(memory),
    ])
  }
  return formatRows(headings, rows)
}

/** Medians without the attack and with it. */
function pairOf(figure: Judged | undefined, divisor = 1): string {
  const sides = [figure?.against?.samples ?? [], figure?.ours ?? []]
  return sides.map((samples) => formatNumber(spreadOf(samples).median / divisor)).join(' → ')
}

function tlsWords(folder: string): readonly string[] {
  const [cert, key] = [join(folder, 'server.crt'), join(folder, 'server.key')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=crossgear']
  execFileSync('openssl', ['req', '-x509', ...kind, ...files], { stdio: 'pipe' })
  return ['--faktory-tls-cert', cert, '--faktory-tls-key', key]
}
