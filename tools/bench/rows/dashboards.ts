import { once } from 'node:events'
import { Agent, get, type ClientRequest, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, RowGroup } from '../bench.ts'
import { costOf, withServers } from '../bench.ts'
import { atLeast, type Cost, figureOf } from '../report/figures.ts'
import { startGateway } from '../servers.ts'

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

/** The cost of two turns of as many jobs. */
function both(one: Cost, other: Cost): Cost {
  return {
    rate: 2 / (1 / one.rate + 1 / other.rate),
    microseconds: (one.microseconds + other.microseconds) / 2,
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
      const [without, beside]: [Cost[], Cost[]] = [[], []]
      const turnOf = (jobs: number) => costOf(driver, gateway, 'foreground', { jobs })
      for (let round = 0; round <= rounds; round += 1) {
        const before = await turnOf(half)
        const watched = await withDashboards(gateway.webPort, () => turnOf(2 * half))
        const after = await turnOf(half)
        if (round === 0) continue
        without.push(both(before, after))
        beside.push(watched)
      }
      await driver.stop()
      const name = `foreground, 100 B, ${viewers} dashboards open`
      const against = { name: 'without', turns: without }
      const spent = `${name}: processor time`
      return [
        figureOf({ name, unit: 'jobs/s', target: atLeast(0.95) }, 'rate', beside, against),
        figureOf({ name: spent, unit: 'us/job' }, 'microseconds', beside, against),
      ]
    }),
}
