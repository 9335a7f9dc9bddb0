import type { Answer } from '../page.ts'
import { Cached } from './cached.ts'
import { faktoryServerFigures } from './figures/faktory-figures.ts'
import { type Figure, gauge, only } from './figure.ts'
import { contentTypes, type Format, formatFor, lastLine, render } from './render.ts'

/** Figures, of which some may be the store's. */
export interface PageFigures {
  readonly figures: readonly Figure[]
  /** When those of the store were read, milliseconds by the pages' clock. Absent without any. */
  readonly readAtMs?: number | undefined
}

/** Sources of the pages' figures. */
export interface FigureSources {
  /** Counters of this gateway. */
  node(): Promise<readonly Figure[]>
  /** Never rejects: without an answer of the store there are figures that say so. */
  store(): Promise<PageFigures>
  /** The figures under the names of gearmand's exporter. */
  gearman(): Promise<readonly Figure[]>
  /** The figures of INFO, which reads the store again. */
  faktory(): Promise<readonly Figure[]>
}

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
      '/metrics/faktory': async () => {
        const [own, faktory] = await Promise.all([node.get(), sources.faktory()])
        return { figures: [...faktory, ...faktoryServerFigures(own)] }
      },
    }
    const formats = Object.keys(contentTypes) as readonly Format[]
    const bodies = Object.entries(pages).flatMap(([path, figures]) =>
      formats.map((format) => {
        const make = async (): Promise<Body> => {
          const { figures: shown, readAtMs } = await figures()
          return { text: render(shown, format), readAtMs }
        }
        return [keyOf(path, format), new Cached(pageLifetimeMs, nowMs, make)] as const
      }),
    )
    this.#bodies = new Map(bodies)
  }

  static readonly paths = ['/metrics', '/metrics/node', '/metrics/gearman', '/metrics/faktory']

  async answer(path: string, accept: string | undefined): Promise<Answer> {
    const format = formatFor(accept)
    const page = await this.#bodies.get(keyOf(path, format))?.get()
    const body = `${page?.text ?? ''}${render(this.#ageOf(page), format)}${lastLine[format]}`
    return { status: 200, type: contentTypes[format], body }
  }

  /** Of this moment: the page may have been made before. */
  #ageOf(page: Body | undefined): readonly Figure[] {
    if (page?.readAtMs === undefined) return []
    const ageSeconds = Math.max(0, this.#nowMs() - page.readAtMs) / 1000
    const help = 'Time since the figures of the whole store on this page were read'
    return [gauge('crossgear_snapshot_age_seconds', help, only(ageSeconds))]
  }
}

function keyOf(path: string, format: Format): string {
  return `${format} ${path}`
}
