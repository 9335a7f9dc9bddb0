import { once } from 'node:events'
import { Agent, get, type ClientRequest, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, RowGroup } from '../bench.ts'
import { cpuPerJob, withServers } from '../bench.ts'
import { atLeast } from '../report/figures.ts'
import type { Driver } from '../load-generator.ts'
import { startGateway, type Gateway } from '../servers.ts'

const viewers = 10
/** From opening the first to opening the last, ms: people do not open them at one moment. */
const openingMs = 1_000
/** How often the dashboard's page of functions asks beside the events, ms; no page asks for more. */
const polled: Readonly<Record<string, number>> = {
  '/api/v1/functions?sort=waiting&order=desc&limit=50': 2_000,
  '/api/v1/workers': 5_000,
}
/** Jobs of a turn with dashboards: some seconds, in which each asks. */
const maxJobs = 30_000
/** Turns of each kind in a round: the ratio of two neighbours varies more than that of most rows. */
const turnsPerRound = 6

/** An open dashboard: it watches the events, and asks for what its page shows. */
class Dashboard {
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true })
  readonly #events: ClientRequest
  #timers: readonly NodeJS.Timeout[] = []
  #isClosed = false
  #refused: Error | undefined

  constructor(port: number) {
    this.#port = port
    this.#events = this.#ask('/api/v1/events')
  }

  /** Resolves with the first event. */
  async open(): Promise<void> {
    const [answer] = (await once(this.#events, 'response')) as [IncomingMessage]
    await once(answer, 'data')
    answer.resume()
    this.#timers = Object.entries(polled).map(([path, everyMs]) => {
      const poll = (): void => {
        this.#poll(path).catch((error: unknown) => {
          // A call that is under way when it is closed has no answer.
          if (!this.#isClosed) this.#refused = error as Error
        })
      }
      poll()
      return setInterval(poll, everyMs)
    })
  }

  /** Throws where a call was not answered: such a dashboard would cost nothing. */
  close(): void {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    this.#events.destroy()
    this.#agent.destroy()
    if (this.#refused) throw this.#refused
  }

  async #poll(path: string): Promise<void> {
    const [answer] = (await once(this.#ask(path), 'response')) as [IncomingMessage]
    if (answer.statusCode !== 200) this.#refused = new Error(`${path}: ${answer.statusCode ?? 0}`)
    answer.resume()
  }

  #ask(path: string): ClientRequest {
    const asking = get({ host: '127.0.0.1', port: this.#port, path, agent: this.#agent })
    // It is closed while its last answer comes.
    asking.on('error', () => undefined)
    return asking
  }
}

async function withDashboards<T>(port: number, work: () => Promise<T>): Promise<T> {
  const open: Dashboard[] = []
  for (let at = 0; at < viewers; at += 1) {
    const dashboard = new Dashboard(port)
    await dashboard.open()
    open.push(dashboard)
    await delay(openingMs / viewers)
  }
  const result = await work()
  for (const dashboard of open) dashboard.close()
  return result
}

/** A turn, or several together. */
interface Turn {
  readonly jobs: number
  readonly seconds: number
  /** Processor time of the gateway and its Redis for a job, microseconds. */
  readonly cpu: number
}

async function turnOf(gateway: Gateway, driver: Driver, jobs: number): Promise<Turn> {
  const run = () => driver.run('foreground', { jobs })
  const { result, microseconds } = await cpuPerJob(gateway, jobs, run)
  return { jobs, seconds: result.seconds, cpu: microseconds }
}

function rateOf({ jobs, seconds }: Turn): number {
  return jobs / seconds
}

/** Two turns of as many jobs. */
function both(one: Turn, other: Turn): Turn {
  return {
    jobs: one.jobs + other.jobs,
    seconds: one.seconds + other.seconds,
    cpu: (one.cpu + other.cpu) / 2,
  }
}

/** Foreground jobs while ten dashboards are open, against none before and after, at one gateway. */
export const dashboards: RowGroup = {
  name: 'dashboards',
  measure: ({ generator, scale }: Bench) =>
    withServers([() => startGateway({ web: true })], async ([gateway]) => {
      if (!gateway) return []
      const half = Math.min(scale.jobs, maxJobs) / 2
      const rounds = scale.rounds * turnsPerRound
      const driver = generator.drive(gateway, 4 * half * (rounds + 1))
      const [without, beside]: [Turn[], Turn[]] = [[], []]
      for (let round = 0; round <= rounds; round += 1) {
        const before = await turnOf(gateway, driver, half)
        const watched = await withDashboards(gateway.webPort, () =>
          turnOf(gateway, driver, 2 * half),
        )
        const after = await turnOf(gateway, driver, half)
        if (round === 0) continue
        without.push(both(before, after))
        beside.push(watched)
      }
      await driver.stop()
      const name = `foreground, 100 B, ${viewers} dashboards open`
      return [
        {
          ...{ name, unit: 'jobs/s', ours: beside.map(rateOf), target: atLeast(0.95) },
          against: { name: 'without', samples: without.map(rateOf) },
        },
        {
          ...{
            name: `${name}: processor time`,
            unit: 'us/job',
            ours: beside.map(({ cpu }) => cpu),
          },
          against: { name: 'without', samples: without.map(({ cpu }) => cpu) },
        },
      ]
    }),
}
