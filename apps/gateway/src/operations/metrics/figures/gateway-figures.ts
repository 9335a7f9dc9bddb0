import { inTime } from '../../../doors/net/clock.ts'
import type { Scheduler } from '@crossgear/core-scheduler'
import type { MigrationNotes } from '@crossgear/redis-store'
import type { Census } from '../../../doors/net/census.ts'
import { censusFigures } from './census-figures.ts'
import { faktoryFigures, faktoryServerFigures } from './faktory-figures.ts'
import type { Metric } from 'prom-client'
import { counter, gauge, only } from '../figure.ts'
import { gearmanFigures } from './gearman-figures.ts'
import { BoundedLabels } from '../labels.ts'
import { migrationFigures, notedFields } from './migration-figures.ts'
import type { FigureSources, PageFigures } from '../metrics-pages.ts'
import type { Metrics } from '../metrics.ts'
import { storeFigures } from './store-figures.ts'
import type { StoreSnapshots } from '../store-snapshot.ts'

/** Longest wait for the store during a scrape, milliseconds. */
const storeTimeoutMs = 2000

interface Parts {
  readonly metrics: Metrics
  readonly scheduler: Scheduler
  readonly snapshots: StoreSnapshots
  /** Migrations into the store. */
  readonly migrations: Pick<MigrationNotes, 'latest'>
  readonly doors: () => readonly { readonly name: string; census(): Census }[]
  /** Figures of further parts of this process. */
  readonly others: () => readonly Metric[]
  /** INFO's figures and commands so far; absent if the port is off. */
  readonly faktory?: { info(): Promise<string>; readonly commands: number }
  readonly version: string
  /** The gearmand version that the port behaves as. */
  readonly gearmandVersion: string
  readonly node: string
  /** The kind of store. */
  readonly store: string
  /** Most queues with labels of their own. */
  readonly queues: number
}

/** All figures of this process, and those of the store. */
export class GatewayFigures implements FigureSources {
  readonly #parts: Parts
  readonly #queues: BoundedLabels
  /** The exporter of gearmand knows lanes by name only. */
  readonly #lanes: BoundedLabels

  constructor(parts: Parts) {
    this.#parts = parts
    this.#queues = new BoundedLabels(parts.queues)
    this.#lanes = new BoundedLabels(parts.queues)
  }

  async node(): Promise<readonly Metric[]> {
    const { metrics, doors, others, version, node, store, faktory } = this.#parts
    this.#pruneLabels()
    const labels = { functions: metrics.labels, queues: this.#queues }
    const census = doors().map((door) => ({ door: door.name, census: door.census() }))
    return [
      ...(await metrics.figures()),
      ...censusFigures(census, labels),
      ...others(),
      counter(
        'crossgear_faktory_commands_total',
        'Commands of Faktory clients',
        only(faktory?.commands ?? 0),
      ),
      gauge('crossgear_build_info', 'Always 1: version, node and kind of store', [
        [{ version, node, store }, 1],
      ]),
    ]
  }

  async store(): Promise<PageFigures> {
    const { metrics, snapshots, migrations } = this.#parts
    const [snapshot, noted] = await Promise.all([
      ifInTime(snapshots.get()),
      ifInTime(migrations.latest(notedFields)),
    ])
    const labels = { functions: metrics.labels, queues: this.#queues }
    const ofStore = snapshot ? await storeFigures(snapshot, labels) : []
    const figures = [...ofStore, ...migrationFigures(noted ?? [])]
    return { figures, readAtMs: snapshot?.readAtMs }
  }

  async gearman(): Promise<readonly Metric[]> {
    const { snapshots, gearmandVersion: version } = this.#parts
    const snapshot = await ifInTime(snapshots.get())
    return await gearmanFigures({ snapshot, labels: this.#lanes, version })
  }

  async faktory(): Promise<readonly Metric[]> {
    const { faktory, metrics } = this.#parts
    const info = faktory && (await ifInTime(faktory.info()))
    const connections = await metrics.connections('faktory')
    return [
      ...faktoryFigures(info, this.#queues),
      ...faktoryServerFigures(faktory?.commands ?? 0, connections),
    ]
  }

  /** Frees the labels of names that are gone. */
  #pruneLabels(): void {
    const { metrics, scheduler } = this.#parts
    const { registry } = scheduler
    metrics.pruneLabels((fn) => registry.ofFunction(fn).length > 0)
    this.#queues.prune((queue) => registry.ofQueue(queue).length > 0)
    this.#lanes.prune((lane) => registry.numberOf(lane) !== undefined)
  }
}

/** Undefined if no answer comes in time. */
function ifInTime<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  return inTime(answer, storeTimeoutMs, undefined).catch(() => undefined)
}
