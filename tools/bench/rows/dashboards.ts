import { once } from 'node:events'
import { Agent, get, type ClientRequest, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, RowGroup } from '../bench.ts'
import { withServers } from '../bench.ts'
import { atLeast } from '../report/figures.ts'
import type { Driver } from '../load-generator.ts'
import { startGateway } from '../servers.ts'

const viewers = 10
const pollMs = 1_000
const polled = ['/api/v1/overview', '/api/v1/functions?limit=100'] as const
/** Jobs of a turn: some seconds, in which each dashboard asks a few times. */
const mostJobs = 40_000

/** An open dashboard: it watches the events, and asks for its lists once a second. */
class Dashboard {
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true })
  readonly #events: ClientRequest
  #timer: NodeJS.Timeout | undefined
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
    this.#timer = setInterval(() => {
      this.#poll().catch((error: unknown) => {
        // A call that is under way when it is closed has no answer.
        if (!this.#isClosed) this.#refused = error as Error
      })
    }, pollMs)
  }

  /** Throws where a call was not answered: such a dashboard would cost nothing. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#events.destroy()
    this.#agent.destroy()
    if (this.#refused) throw this.#refused
  }

  async #poll(): Promise<void> {
    for (const path of polled) {
      const [answer] = (await once(this.#ask(path), 'response')) as [IncomingMessage]
      if (answer.statusCode !== 200) this.#refused = new Error(`${path}: ${answer.statusCode ?? 0}`)
      answer.resume()
    }
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
    // People do not open them at one moment.
    await delay(pollMs / viewers)
  }
  const result = await work()
  for (const dashboard of open) dashboard.close()
  return result
}

async function rate(driver: Driver, jobs: number): Promise<number> {
  return jobs / (await driver.run('foreground', { jobs })).seconds
}

/** Foreground jobs while ten dashboards are open, against none, at one gateway in turn. */
export const dashboards: RowGroup = {
  name: 'dashboards',
  measure: ({ generator, scale, processes }: Bench) =>
    withServers([() => startGateway({ processes, web: true })], async ([gateway]) => {
      if (!gateway) return []
      const jobs = Math.min(scale.jobs, mostJobs)
      const driver = generator.drive(gateway, 2 * jobs * (scale.rounds + 1))
      const [without, beside]: [number[], number[]] = [[], []]
      for (let round = 0; round <= scale.rounds; round += 1) {
        const alone = await rate(driver, jobs)
        const watched = await withDashboards(gateway.webPort, () => rate(driver, jobs))
        if (round === 0) continue
        without.push(alone)
        beside.push(watched)
      }
      await driver.stop()
      return [
        {
          ...{
            name: `foreground, 100 B, ${viewers} dashboards open`,
            unit: 'jobs/s',
            ours: beside,
          },
          ...{ against: { name: 'without', samples: without }, target: atLeast(0.95) },
        },
      ]
    }),
}
