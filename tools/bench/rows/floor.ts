import { fileURLToPath } from 'node:url'
import { costOf, inTurn, withServers, type Bench, type RowGroup } from '../bench.ts'
import type { Mode, Phase } from '../load-generator.ts'
import { startProgram } from '../processes.ts'
import { type Figure, figureOf } from '../report/figures.ts'
import { advisedRedis, startGearmand, type Server } from '../servers.ts'
import { percentilesOf } from './latency.ts'

const program = fileURLToPath(new URL('../floor/main.mjs', import.meta.url))

interface Load {
  readonly words: string
  readonly mode: Mode
  /** Runs before it, and is not measured. */
  readonly before?: Mode
  readonly phase?: Omit<Phase, 'jobs'>
  /** Part of the jobs of a turn. */
  readonly share: number
  /** Figure: the median time instead of the rate. */
  readonly isLatency?: boolean
  /** Mode of gearmand, which knows no Faktory; undefined if it is not compared. */
  readonly atGearmand?: Mode
}

const many = { clients: 10, workers: 10 }
const loads: readonly Load[] = [
  { words: 'foreground, 100 B', mode: 'foreground', share: 1 / 2, atGearmand: 'foreground' },
  {
    ...{ words: 'foreground, 10 KB', mode: 'foreground', phase: { size: 10_240 }, share: 1 / 8 },
    ...{ atGearmand: 'foreground' },
  },
  { words: 'background, both together', mode: 'both', share: 1 / 2, atGearmand: 'both' },
  {
    ...{
      words: 'latency at window 1: p50',
      mode: 'foreground',
      phase: { window: 1 },
      share: 1 / 8,
    },
    ...{ isLatency: true, atGearmand: 'foreground' },
  },
  { words: 'Faktory PUSH', mode: 'push', phase: many, share: 1 / 5, atGearmand: 'foreground' },
  {
    ...{ words: 'Faktory FETCH and ACK', mode: 'work', before: 'push', phase: many, share: 1 / 5 },
    ...{ atGearmand: 'foreground' },
  },
  {
    ...{ words: 'Faktory PUSH, FETCH and ACK in turn', mode: 'cycle', phase: many, share: 1 / 5 },
    ...{ atGearmand: 'foreground' },
  },
  ...(['push', 'fetch', 'ack'] as const).map((timed): Load => {
    const words = `Faktory ${timed.toUpperCase()}, one connection: p50`
    return { words, mode: 'cycle', phase: { timed, workers: 1 }, share: 1 / 20, isLatency: true }
  }),
]

interface Turn {
  readonly rate: number
  /** Processor time per job. */
  readonly microseconds: number
  readonly p50: number
}

/** A Node server that does the least, with a Redis of its own or without any. */
async function startBare(store: 'Redis' | 'no store'): Promise<Server> {
  const redis = store === 'Redis' ? await advisedRedis() : undefined
  const running = startProgram(process.execPath, [program, ...(redis ? [redis.path] : [])])
  const ports = await running.said((line) =>
    line.startsWith('{"gearman"')
      ? (JSON.parse(line) as { readonly gearman: number; readonly faktory: number })
      : undefined,
  )
  return {
    name: `bare Node server, ${store}`,
    port: ports.gearman,
    faktoryPort: ports.faktory,
    pids: redis === undefined ? [running.pid] : [running.pid, redis.pid],
    async stop() {
      await running.stop()
      await redis?.stop()
    },
  }
}

/** The cost of Node and Redis alone on this machine: servers that do the least against gearmand and the gateway. */
export const floor: RowGroup = {
  name: 'floor',
  async measure(bench) {
    const figures: Figure[] = []
    for (const load of loads) figures.push(...(await measureLoad(bench, load)))
    return figures
  },
}

async function measureLoad(bench: Bench, load: Load): Promise<readonly Figure[]> {
  const { phase, share, before, atGearmand } = load
  const jobs = Math.ceil(bench.scale.jobs * share)
  const starts = [
    bench.startGateway,
    () => startBare('Redis'),
    () => startBare('no store'),
    ...(atGearmand ? [() => startGearmand()] : []),
  ]
  const perTurn = { jobsPerTurn: before ? 2 * jobs : jobs, size: phase?.size ?? 100 }
  return withServers<Server, readonly Figure[]>(starts, async (servers) => {
    const rounds = await inTurn(bench, servers, perTurn, async (driver, server): Promise<Turn> => {
      const isGearmand = server === servers[3]
      const mode = isGearmand && atGearmand ? atGearmand : load.mode
      const peers = isGearmand && load.mode !== mode ? { jobs } : { jobs, ...phase }
      if (before && !isGearmand) await driver.run(before, peers)
      const cost = await costOf(driver, server, mode, peers)
      const [p50 = Number.NaN] = load.isLatency ? percentilesOf([cost], 50) : []
      return { ...cost, p50 }
    })
    return compare(load, servers, rounds)
  })
}

/** The bare servers against gearmand, then the gateway against the one with Redis. */
function compare(load: Load, servers: readonly Server[], rounds: readonly Turn[][]): Figure[] {
  const [gateway = [], redis = [], none = [], gearmand] = rounds
  const peer = load.mode === load.atGearmand ? 'gearmand' : 'gearmand foreground'
  const lines = (
    subject: string,
    ours: readonly Turn[],
    name: string,
    theirs: readonly Turn[] | undefined,
  ): Figure[] => {
    const against = theirs && { name, turns: theirs }
    const figure = (key: keyof Turn, unit: Figure['unit'], words: string): Figure =>
      figureOf({ name: `${subject}: ${words}`, unit }, key, ours, against)
    if (load.isLatency) return [figure('p50', 'us', load.words)]
    return [
      figure('rate', 'jobs/s', load.words),
      figure('microseconds', 'us/job', `${load.words}: processor time`),
    ]
  }
  const [, withRedis, without] = servers
  return [
    ...lines(without!.name, none, peer, gearmand),
    ...lines(withRedis!.name, redis, peer, gearmand),
    ...lines('gateway', gateway, withRedis!.name, redis),
  ]
}
