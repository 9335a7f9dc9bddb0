import { fileURLToPath } from 'node:url'
import { cpuPerJob, inTurn, withServers, type Bench, type RowGroup } from '../bench.ts'
import type { Mode } from '../load-generator.ts'
import { startProgram } from '../processes.ts'
import type { Figure } from '../report/figures.ts'
import { advisedRedis, startGearmand, type Server } from '../servers.ts'

const program = fileURLToPath(new URL('../floor/main.mjs', import.meta.url))
const loads = [
  { mode: 'foreground', words: 'foreground, 100 B', peers: {} },
  {
    mode: 'cycle',
    words: 'Faktory PUSH, FETCH and ACK in turn',
    peers: { clients: 10, workers: 10 },
  },
] as const satisfies readonly { mode: Mode; words: string; peers: object }[]

interface Turn {
  readonly rate: number
  readonly microseconds: number
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

/** The cost of Node and Redis alone on this machine: the gateway against servers that do the least. */
export const floor: RowGroup = {
  name: 'floor',
  async measure(bench) {
    const figures: Figure[] = []
    for (const load of loads) figures.push(...(await measureLoad(bench, load)))
    return figures
  },
}

async function measureLoad(bench: Bench, load: (typeof loads)[number]): Promise<readonly Figure[]> {
  const jobs = bench.scale.jobs / 2
  const starts = [
    startGearmand,
    bench.startGateway,
    () => startBare('Redis'),
    () => startBare('no store'),
  ]
  return withServers<Server, readonly Figure[]>(starts, async (servers) => {
    const rounds = await inTurn(bench, servers, { jobsPerTurn: jobs }, async (driver, server) => {
      // gearmand knows no Faktory: its foreground jobs are what the Faktory rows are held against.
      const { mode, peers } = server === servers[0] ? loads[0] : load
      const run = (): ReturnType<typeof driver.run> => driver.run(mode, { jobs, ...peers })
      const { result, microseconds } = await cpuPerJob(server, jobs, run)
      return { rate: jobs / result.seconds, microseconds }
    })
    return compare(load.words, servers, rounds)
  })
}

/** The bare servers against gearmand, then the gateway against the bare ones. */
function compare(
  words: string,
  servers: readonly Server[],
  rounds: readonly Turn[][],
): readonly Figure[] {
  const [gearmand = [], gateway = [], ...bare] = rounds
  return bare.flatMap((turns, place) => {
    const name = servers[place + 2]?.name ?? ''
    const line = (
      subject: string,
      ours: readonly Turn[],
      peer: string,
      theirs: readonly Turn[],
    ): readonly Figure[] => [
      figure(`${subject}: ${words}`, 'jobs/s', 'rate', ours, peer, theirs),
      figure(`${subject}: ${words}: processor time`, 'us/job', 'microseconds', ours, peer, theirs),
    ]
    return [
      ...line(name, turns, 'gearmand foreground', gearmand),
      ...line('gateway', gateway, name, turns),
    ]
  })
}

function figure(
  name: string,
  unit: Figure['unit'],
  key: keyof Turn,
  ours: readonly Turn[],
  peer: string,
  theirs: readonly Turn[],
): Figure {
  const samples = (turns: readonly Turn[]): number[] => turns.map((turn) => turn[key])
  return { name, unit, ours: samples(ours), against: { name: peer, samples: samples(theirs) } }
}
