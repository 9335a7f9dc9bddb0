import { Counter, Gauge, Registry } from 'prom-client'
import { aggregate } from '../ops/metrics/aggregate.ts'
import { faktoryFigures } from '../ops/metrics/figures/faktory-figures.ts'
import type { Figure } from '../ops/metrics/figure.ts'
import { gearmanFigures } from '../ops/metrics/figures/gearman-figures.ts'
import { ProcessFigures, promFigures } from '../ops/metrics/prom-figures.ts'
import { BoundedLabels } from '../ops/metrics/labels.ts'
import type { FigureSources } from '../ops/metrics/metrics-pages.ts'
import type { GatewayProcess } from './gateway-process.ts'

type Figures = readonly Figure[]

/** The parent's own figures of interest: the rest describes an idle event loop. */
const ownName = /^(process_|crossgear_)/
/** Kept after a process has ended, so that no sum goes down. */
const lastingTypes: ReadonlySet<string> = new Set(['counter', 'histogram'])
/** Not summed: the gateway started when its parent did. */
const started = 'process_start_time_seconds'

/** Figures of all processes as those of one gateway. */
export class SharedFigures implements FigureSources {
  readonly #processes: () => readonly GatewayProcess[]
  readonly #gearmandVersion: string
  readonly #own = new Registry()
  readonly #process = new ProcessFigures(this.#own)
  readonly #restarts: Counter
  readonly #last = new Map<GatewayProcess, Figures>()
  /** Figures of ended processes. */
  #departed: Figures = []

  constructor(processes: () => readonly GatewayProcess[], gearmandVersion: string) {
    this.#processes = processes
    this.#gearmandVersion = gearmandVersion
    const registers = [this.#own]
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

  /** Keeps the last figures of an ended process. */
  departed(process: GatewayProcess): void {
    this.#restarts.inc()
    const last = this.#last.get(process) ?? []
    this.#last.delete(process)
    const lasting = last.filter(({ type }) => lastingTypes.has(type))
    this.#departed = aggregate([this.#departed, lasting])
  }

  /** A process that does not answer is shown with its last figures. */
  async node(): Promise<Figures> {
    const all = await Promise.all(
      this.#serving().map(async (process) => {
        try {
          const figures = await process.ask(undefined, 'figures')
          if (process.serves) this.#last.set(process, figures)
          return figures
        } catch {
          return this.#last.get(process) ?? []
        }
      }),
    )
    return aggregate([await this.#ownFigures(), this.#departed, ...all])
  }

  /** One of the processes asks the store for all. */
  async store(): Promise<Figures> {
    const answer = await this.#serving()[0]
      ?.ask(undefined, 'storeScrape')
      .catch(() => undefined)
    return answer ?? []
  }

  async gearman(): Promise<Figures> {
    const answer = await this.#serving()[0]
      ?.ask(undefined, 'gearmanScrape')
      .catch(() => undefined)
    if (answer) return answer
    const labels = new BoundedLabels(0)
    return await gearmanFigures({ snapshot: undefined, labels, version: this.#gearmandVersion })
  }

  async faktory(): Promise<Figures> {
    const answer = await this.#serving()[0]
      ?.ask(undefined, 'faktoryScrape')
      .catch(() => undefined)
    return answer ?? faktoryFigures(undefined, new BoundedLabels(0))
  }

  #serving(): readonly GatewayProcess[] {
    return this.#processes().filter(({ serves }) => serves)
  }

  async #ownFigures(): Promise<Figures> {
    this.#process.watch()
    const figures = await promFigures(this.#own)
    return figures
      .filter(({ name }) => ownName.test(name))
      .map((figure) => (figure.name === started ? { ...figure, aggregator: 'first' } : figure))
  }
}
