import type { Answer } from '../page.ts'
import { Cached } from './cached.ts'
import { faktoryServerFigures } from './figures/faktory-figures.ts'
import type { Figure } from './figure.ts'
import { contentTypes, type Format, formatFor, render } from './render.ts'

/** Sources of the pages' figures. */
export interface FigureSources {
  /** Counters of this gateway. */
  node(): Promise<readonly Figure[]>
  /** Never rejects: without an answer of the store there are figures that say so. */
  store(): Promise<readonly Figure[]>
  /** The same under the names of gearmand's exporter. */
  gearman(): Promise<readonly Figure[]>
  /** The same for those of INFO, which reads the store again. */
  faktory(): Promise<readonly Figure[]>
}

/** Lifetime of a page, ms: a scrape costs the same for any number of readers. */
const pageLifetimeMs = 1000

/** Pages for Prometheus, by path. */
export class MetricsPages {
  readonly #bodies: ReadonlyMap<string, Cached<string>>

  constructor(sources: FigureSources, nowMs: () => number) {
    const node = new Cached(pageLifetimeMs, nowMs, () => sources.node())
    const pages: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
      '/metrics': async () => {
        // First: reading all functions may fold some that the node counts.
        const ofStore = await sources.store()
        return [...(await node.get()), ...ofStore]
      },
      '/metrics/node': () => node.get(),
      '/metrics/gearman': () => sources.gearman(),
      '/metrics/faktory': async () => {
        const [own, faktory] = await Promise.all([node.get(), sources.faktory()])
        return [...faktory, ...faktoryServerFigures(own)]
      },
    }
    const formats = Object.keys(contentTypes) as readonly Format[]
    const bodies = Object.entries(pages).flatMap(([path, figures]) =>
      formats.map((format) => {
        const make = async (): Promise<string> => render(await figures(), format)
        return [keyOf(path, format), new Cached(pageLifetimeMs, nowMs, make)] as const
      }),
    )
    this.#bodies = new Map(bodies)
  }

  static readonly paths = ['/metrics', '/metrics/node', '/metrics/gearman', '/metrics/faktory']

  async answer(path: string, accept: string | undefined): Promise<Answer> {
    const format = formatFor(accept)
    const body = (await this.#bodies.get(keyOf(path, format))?.get()) ?? ''
    return { status: 200, type: contentTypes[format], body }
  }
}

function keyOf(path: string, format: Format): string {
  return `${format} ${path}`
}
