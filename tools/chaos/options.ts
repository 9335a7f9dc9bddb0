import { parseArgs } from 'node:util'
import type { Scenario } from './scenarios/scenario.ts'

export const usage = `npm run chaos -- [options] [scenarios]

Kills, freezes and cuts off gateways, workers and servers under load, and checks that no accepted
job is lost. Without names every scenario is played.

  --quick      the most telling scenarios with few jobs, two at once
  --seed <n>   the seed of all chance; a new one each time if left out
  --jobs <n>   jobs of a scenario (20000; 1500 with --quick)
  --soak <t>   random faults for so long (90s, 10m, 2h), and a look at the gateways' memory
  --list       names the scenarios
  --help       this text

Promised is service in 3 s after a gateway's start, 5 s after that of Redis, 30 s after a failover, 3 s after a planned one; the
table shows how long it took. Three times as long breaks the promise, and on a busy machine as much longer
as its load, or the first start of a gateway, is over the usual.

Exit code 1: a promise was broken; the logs are kept and their folder is printed.`

const manyJobs = 20_000
const fewJobs = 1_500

export interface Choice {
  readonly show: 'help' | 'list' | 'nothing'
  readonly chosen: readonly Scenario[]
  readonly seed: number
  readonly jobs: number
  /** Scenarios that are played at once. */
  readonly atOnce: number
  /** Random faults for this long, in place of scenarios. */
  readonly soakSeconds: number | undefined
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** Parses the command line; returns its fault if it has one. */
export function parseWords(
  words: readonly string[],
  scenarios: readonly Scenario[],
): Choice | { readonly problem: string } {
  let parsed
  try {
    parsed = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        seed: { type: 'string' },
        soak: { type: 'string' },
        jobs: { type: 'string' },
      },
    })
  } catch (error) {
    return { problem: (error as Error).message }
  }
  const { values, positionals } = parsed
  const known = new Map(scenarios.map((scenario) => [scenario.name, scenario]))
  const strange = positionals.filter((name) => !known.has(name))
  if (strange.length > 0) return { problem: `There is no scenario ${strange.join(', ')}.` }
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
  const jobs = Number(values.jobs ?? (values.quick ? fewJobs : manyJobs))
  if (!Number.isSafeInteger(seed)) return { problem: '--seed is a whole number.' }
  if (!Number.isSafeInteger(jobs) || jobs < 1) return { problem: '--jobs is a whole number.' }
  const [, count, unit = 's'] = /^(\d+)([smh])?$/.exec(values.soak ?? '0') ?? []
  if (count === undefined) return { problem: '--soak is a time such as 90s, 10m or 2h.' }
  const soakSeconds = Number(count) * (secondsOf[unit] ?? 1)
  const named = positionals.map((name) => known.get(name)!)
  const all = scenarios.filter(({ quick }) => !values.quick || quick)
  return {
    show: values.help ? 'help' : values.list ? 'list' : 'nothing',
    chosen: named.length > 0 ? named : all,
    seed,
    jobs,
    atOnce: values.quick ? 2 : 1,
    soakSeconds: soakSeconds || undefined,
  }
}
