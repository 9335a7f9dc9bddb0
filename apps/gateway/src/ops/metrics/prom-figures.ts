import { collectDefaultMetrics } from 'prom-client'
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'
import { labelText, seriesName, type Figure, type Labels } from './figure.ts'

/** prom-client's objects, including those of histograms. */
type PromMetric = MetricObjectWithValues<MetricValue<string>>

/** Figures of a prom-client registry. */
export async function promFigures(registry: Registry): Promise<readonly Figure[]> {
  const metrics = await registry.getMetricsAsJSON()
  return (metrics as readonly PromMetric[]).map(({ name, help, type, values }) => ({
    ...{ name, help },
    // An enumeration in its types, a word in its objects.
    type: String(type) as Figure['type'],
    series: values.map((value) => {
      const named = 'metricName' in value ? String(value.metricName) : name
      return seriesName(named, labelText(value.labels as Labels))
    }),
    values: values.map(({ value }) => value),
  }))
}

/** Gauges with a counter's name: sums of figures that are there by type. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

/**
 * prom-client's figures of this process. They watch the event loop a hundred times a second, some 1 % of a core, so they
 * begin with the first reader.
 */
export class ProcessFigures {
  readonly #register: Registry
  #isWatched = false

  constructor(register: Registry) {
    this.#register = register
  }

  watch(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    collectDefaultMetrics({ register: this.#register })
    for (const name of misnamed) this.#register.removeSingleMetric(name)
  }
}
