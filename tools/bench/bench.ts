import { setTimeout as delay } from 'node:timers/promises'
import type { Cost, Figure, Judged } from './report/figures.ts'
import type { Driver, LoadGenerator, Measured, Mode, Phase } from './load-generator.ts'
import { cpuSeconds, sumOver } from './processes.ts'
import { startGateway, startGearmand, type Server } from './servers.ts'

const settleWindowMs = 250
const settledSeconds = 0.03
const settleDeadlineMs = 60_000

/** Number of jobs for each figure. */
export interface Scale {
  readonly rounds: number
  /** Jobs per turn. */
  readonly jobs: number
  /** Jobs per turn if each client has one in progress. */
  readonly latencyJobs: number
  /** Jobs that wait while others are measured. */
  readonly queued: number
  readonly restSeconds: number
}

export const fullScale: Scale = {
  rounds: 5,
  jobs: 100_000,
  latencyJobs: 40_000,
  queued: 1_000_000,
  restSeconds: 10,
}

/** For a quick comparison; the published figures use the full scale. */
export const quickScale: Scale = {
  rounds: 3,
  jobs: 20_000,
  latencyJobs: 5000,
  queued: 50_000,
  restSeconds: 2,
}

/** The environment of every row. */
export interface Bench {
  readonly generator: LoadGenerator
  readonly scale: Scale
}

/** Figures measured together, chosen by name on the command line. */
export interface RowGroup {
  readonly name: string
  readonly measure: (bench: Bench) => Promise<readonly Figure[]>
  /** A table of its own for the figures. They stand in the table of all. */
  readonly table?: (figures: readonly Judged[]) => string
}

/** Passes the servers that `start` starts, one after the other, to `use`, and always stops them. */
export async function withServers<S extends Server, T>(
  starts: readonly (() => Promise<S>)[],
  use: (servers: readonly S[]) => Promise<T>,
): Promise<T> {
  const servers: S[] = []
  try {
    for (const start of starts) servers.push(await start())
    return await use(servers)
  } finally {
    for (const server of servers) await server.stop()
  }
}

export interface Turns {
  readonly jobsPerTurn: number
  /** Bytes of the largest payload. */
  readonly size?: number
}

/**
 * Takes turns at the servers: A, B, A, B. Each has a first turn that does not count, as warm-up.
 * Returns each server's results in its order.
 */
export async function inTurn<T>(
  { generator, scale }: Bench,
  servers: readonly Server[],
  { jobsPerTurn, size = 100 }: Turns,
  turn: (driver: Driver, server: Server) => Promise<T>,
): Promise<readonly T[][]> {
  const capacity = jobsPerTurn * (scale.rounds + 1)
  const contenders = servers.map((server) => ({
    server,
    driver: generator.drive(server, capacity, size),
    results: [] as T[],
  }))
  for (let round = 0; round <= scale.rounds; round++) {
    for (const { driver, server, results } of contenders) {
      const result = await turn(driver, server)
      if (round > 0) results.push(result)
    }
  }
  for (const { driver } of contenders) await driver.stop()
  return contenders.map(({ results }) => results)
}

/** Turns at gearmand and at the gateway: the results of the one, then those of the other. */
export function withGearmand<T>(
  bench: Bench,
  turns: Turns,
  turn: (driver: Driver, server: Server) => Promise<T>,
): Promise<readonly T[][]> {
  return withServers<Server, readonly T[][]>([startGearmand, startGateway], (servers) =>
    inTurn(bench, servers, turns, turn),
  )
}

/** Resolves when the server is nearly idle, so that it takes no time from another. */
export async function settled(server: Server): Promise<void> {
  const used = (): number => sumOver(server.pids, cpuSeconds)
  const deadline = performance.now() + settleDeadlineMs
  for (let before = used(); performance.now() < deadline; before = used()) {
    await delay(settleWindowMs)
    if (used() - before <= settledSeconds) return
  }
  throw new Error(`${server.name} does not come to rest`)
}

/** The cost of a phase at a server. */
export async function costOf(
  driver: Driver,
  server: Server,
  mode: Mode,
  phase: Phase,
): Promise<Cost & Pick<Measured, 'latency'>> {
  const used = (): number => sumOver(server.pids, cpuSeconds)
  const before = used()
  const { seconds, latency } = await driver.run(mode, phase)
  const { jobs } = phase
  return { rate: jobs / seconds, microseconds: ((used() - before) / jobs) * 1e6, latency }
}
