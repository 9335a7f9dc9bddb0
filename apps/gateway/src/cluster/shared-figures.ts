import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { Figures } from '../ops/metrics.ts'
import type { GatewayProcess } from './gateway-process.ts'

/** The parent's own figures that are of interest: the rest tells of an event loop that does little. */
const OWN = /^(process_|crossgear_)/
/** Kept when a process has ended, so that no sum ever goes down. */
const LASTING: ReadonlySet<string> = new Set(['counter', 'histogram'])
/** Not to be added up: the gateway started when the parent did. */
const STARTED = 'process_start_time_seconds'

/** The figures of all processes as one page. */
export class SharedFigures {
  readonly #processes: () => readonly GatewayProcess[]
  readonly #own = new Registry()
  readonly #restarts: Counter
  readonly #last = new Map<GatewayProcess, Figures>()
  /** Of processes that have ended. */
  #departed: Figures = []

  constructor(processes: () => readonly GatewayProcess[]) {
    this.#processes = processes
    const registers = [this.#own]
    collectDefaultMetrics({ register: this.#own })
    const serving: Gauge = new Gauge({
      name: 'crossgear_processes',
      help: 'Processes that take connections',
      registers,
      collect: () => serving.set(processes().filter(({ serves }) => serves).length),
    })
    this.#restarts = new Counter({
      name: 'crossgear_process_restarts_total',
      help: 'Processes that ended and were started again',
      registers,
    })
  }

  /** What was known of the process lasts. */
  async departed(process: GatewayProcess): Promise<void> {
    this.#restarts.inc()
    const last = this.#last.get(process) ?? []
    this.#last.delete(process)
    const lasting = last.filter(({ type }) => LASTING.has(String(type)))
    this.#departed = await sum([this.#departed, lasting]).getMetricsAsJSON()
  }

  /** One of them counts the jobs in the store. A process that does not answer is shown as it was. */
  async render(): Promise<{ contentType: string; body: string }> {
    const serving = this.#processes().filter(({ serves }) => serves)
    const all = await Promise.all(
      serving.map(async (process, at) => {
        try {
          const figures = await process.ask(undefined, 'figures', at === 0)
          if (process.serves) this.#last.set(process, figures)
          return figures
        } catch {
          return this.#last.get(process) ?? []
        }
      }),
    )
    const total = sum([await this.#ownFigures(), this.#departed, ...all])
    return { contentType: total.contentType, body: await total.metrics() }
  }

  async #ownFigures(): Promise<Figures> {
    const figures = await this.#own.getMetricsAsJSON()
    return figures
      .filter(({ name }) => OWN.test(name))
      .map((figure) => (figure.name === STARTED ? { ...figure, aggregator: 'first' } : figure))
  }
}

function sum(parts: readonly Figures[]): Registry {
  return AggregatorRegistry.aggregate(parts.map((part) => [...part]))
}
