import { type Metric, Registry } from 'prom-client'
import type { Answer } from '../page.ts'
import { Cached } from './cached.ts'
import { gauge, only } from './figure.ts'

/** Figures, of which some may be the store's. */
export interface PageFigures {
  readonly figures: readonly Metric[]
  /** When those of the store were read, milliseconds by the pages' clock. Absent without any. */
  readonly readAtMs?: number | undefined
}

/** Sources of the pages' figures. */
export interface FigureSources {
  /** Counters of this gateway. */
  node(): Promise<readonly Metric[]>
  /** Never rejects: without an answer of the store there are figures that say so. */
  store(): Promise<PageFigures>
  /** The figures under the names of gearmand's exporter. */
  gearman(): Promise<readonly Metric[]>
  /** The figures of INFO, which reads the store again. */
  faktory(): Promise<readonly Metric[]>
}

const text = Registry.PROMETHEUS_CONTENT_TYPE
const openMetrics = Registry.OPENMETRICS_CONTENT_TYPE
const formats = [text, openMetrics] as const
type Format = (typeof formats)[number]

/** Lifetime of a page, ms: a scrape costs the same for any number of readers. */
const pageLifetimeMs = 1000

/** A page without its age and its last line. */
interface Body {
  readonly text: string
  readonly readAtMs: number | undefined
}

/** Pages for Prometheus, by path. */
export class MetricsPages {
  readonly #bodies: ReadonlyMap<string, Cached<Body>>
  readonly #nowMs: () => number

  constructor(sources: FigureSources, nowMs: () => number) {
    this.#nowMs = nowMs
    const node = new Cached(pageLifetimeMs, nowMs, () => sources.node())
    const pages: Readonly<Record<string, () => Promise<PageFigures>>> = {
      '/metrics': async () => {
        // First: reading all functions may fold some that the node counts.
        const { figures, readAtMs } = await sources.store()
        return { figures: [...(await node.get()), ...figures], readAtMs }
      },
      '/metrics/node': async () => ({ figures: await node.get() }),
      '/metrics/gearman': async () => ({ figures: await sources.gearman() }),
      '/metrics/faktory': async () => ({ figures: await sources.faktory() }),
    }
    const bodies = Object.entries(pages).flatMap(([path, figures]) =>
      formats.map((format) => {
        const make = async (): Promise<Body> => {
          const { figures: shown, readAtMs } = await figures()
          return { text: await render(shown, format), readAtMs }
        }
        return [keyOf(path, format), new Cached(pageLifetimeMs, nowMs, make)] as const
      }),
    )
    this.#bodies = new Map(bodies)
  }

  static readonly paths = ['/metrics', '/metrics/node', '/metrics/gearman', '/metrics/faktory']

  async answer(path: string, accept: string | undefined): Promise<Answer> {
    const format = formatFor(path, accept)
    const page = await this.#bodies.get(keyOf(path, format))?.get()
    const age = await render(this.#ageOf(page), format)
    const end = format === openMetrics ? '# EOF\n' : ''
    return { status: 200, type: format, body: `${page?.text ?? ''}${age}${end}` }
  }

  /** Of this moment: the page may have been made before. */
  #ageOf(page: Body | undefined): readonly Metric[] {
    if (page?.readAtMs === undefined) return []
    const ageSeconds = Math.max(0, this.#nowMs() - page.readAtMs) / 1000
    const help = 'Time since the figures of the whole store on this page were read'
    return [gauge('crossgear_snapshot_age_seconds', help, only(ageSeconds))]
  }
}

function keyOf(path: string, format: Format): string {
  return `${format} ${path}`
}

/** The format that a scraper asks for. In OpenMetrics some of Faktory's counters would have other names. */
function formatFor(path: string, accept: string | undefined): Format {
  const isOpen = path !== '/metrics/faktory' && accept?.includes('application/openmetrics-text')
  return isOpen ? openMetrics : text
}

/** The text of figures, which prom-client makes. Its method for a whole page copies megabytes twice more. */
async function render(figures: readonly Metric[], format: Format): Promise<string> {
  const page = new Registry<Format>()
  page.setContentType(format)
  // Each page has objects of its own, as OpenMetrics gives counters other names; values are those of all.
  for (const figure of figures) page.registerMetric(Object.create(figure) as Metric)
  let shown = ''
  for (const metric of page.getMetricsAsArray()) {
    const { name, type } = metric
    // An enumeration in its types, a word in its objects. prom-client adds the suffix to the series.
    const isRenamed = format === openMetrics && String(type) === 'counter'
    if (isRenamed) metric.name = name.replace(/_total$/, '')
    shown += `${await page.getSingleMetricAsString(name)}\n`
  }
  return shown
}
