import type { Figure } from './figures.ts'
import type { Driver, LoadGenerator } from './load-generator.ts'
import { cpuSeconds } from './processes.ts'
import type { Server } from './servers.ts'

/** How much is done for each figure. */
export interface Scale {
  readonly rounds: number
  /** Jobs of one turn. */
  readonly jobs: number
  /** Jobs of one turn where each client has one under way. */
  readonly latencyJobs: number
  /** Jobs that wait while the others are measured. */
  readonly queued: number
  readonly idleWorkers: number
  readonly restSeconds: number
}

export const fullScale: Scale = {
  rounds: 5,
  jobs: 100_000,
  latencyJobs: 40_000,
  queued: 1_000_000,
  idleWorkers: 5000,
  restSeconds: 10,
}

/** For a look between two changes; the figures of the table are those of the full scale. */
export const quickScale: Scale = {
  rounds: 3,
  jobs: 30_000,
  latencyJobs: 10_000,
  queued: 100_000,
  idleWorkers: 2000,
  restSeconds: 3,
}

/** What every row works with. */
export interface Bench {
  readonly generator: LoadGenerator
  readonly scale: Scale
}

/** Some figures that are measured together, chosen by name on the command line. */
export interface RowGroup {
  readonly name: string
  readonly measure: (bench: Bench) => Promise<readonly Figure[]>
}

/** Gives `use` what `start` started, one after the other, and stops it all whatever happens. */
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

/**
 * Takes turns at the servers: A, B, A, B. Each has one turn first that does not count, since a program
 * that was just started is not what runs in production. Returns each server's results in its order.
 */
export async function inTurn<T>(
  { generator, scale }: Bench,
  servers: readonly Server[],
  { jobsPerTurn, size = 100 }: { readonly jobsPerTurn: number; readonly size?: number },
  turn: (driver: Driver, server: Server) => Promise<T>,
): Promise<readonly T[][]> {
  const capacity = jobsPerTurn * (scale.rounds + 1)
  const drivers = servers.map((server) => generator.drive(server, capacity, size))
  const results: T[][] = servers.map(() => [])
  for (let round = 0; round <= scale.rounds; round++) {
    for (const [place, server] of servers.entries()) {
      const result = await turn(drivers[place]!, server)
      if (round > 0) results[place]!.push(result)
    }
  }
  for (const driver of drivers) await driver.stop()
  return results
}

/** Runs `work` and says how much processor time the server took for each of its jobs, in microseconds. */
export async function cpuPerJob<T>(
  server: Server,
  jobs: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly microseconds: number }> {
  const used = (): number => server.pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  const before = used()
  const result = await work()
  return { result, microseconds: ((used() - before) / jobs) * 1e6 }
}
