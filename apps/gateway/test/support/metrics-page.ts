import type { Metrics } from '../../src/operations/metrics/metrics.ts'
import { MetricsPages, type FigureSources } from '../../src/operations/metrics/metrics-pages.ts'

/** The figures of a process without a store. */
export function figuresOf(metrics: Metrics): FigureSources {
  return {
    node: () => metrics.figures(),
    store: () => Promise.resolve({ figures: [] }),
    gearman: () => Promise.resolve([]),
    faktory: () => Promise.resolve([]),
  }
}

/** The page /metrics as it is now. */
export async function metricsPage(figures: FigureSources): Promise<string> {
  const pages = new MetricsPages(figures, () => 0)
  return (await pages.answer('/metrics', undefined)).body
}
