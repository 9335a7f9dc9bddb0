import {
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { type Figure, type Labels, labelText, seriesName } from './figure.ts'

/** prom-client's objects, including those of histograms. */
type PromMetric = MetricObjectWithValues<MetricValue<string>>

/** Gauges with a counter's name: sums of figures that are there by type. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

/** Figures of a histogram that is emptied by each scrape: empty, it says NaN, and the longest time there is as its least. */
const eventLoopLag = 'nodejs_eventloop_lag_'

/**
 * prom-client's figures of this process. They watch the event loop a hundred times a second, some 1 % of a core, so they
 * begin with the first reader.
 */
export class ProcessFigures {
  #registry: Registry | undefined

  async figures(): Promise<readonly Figure[]> {
    this.#registry ??= watched()
    const metrics = (await this.#registry.getMetricsAsJSON()) as readonly PromMetric[]
    const isMeasured = metrics.some(
      ({ name, values }) =>
        name === 'nodejs_eventloop_lag_mean_seconds' &&
        values.every(({ value }) => Number.isFinite(value)),
    )
    const known = metrics.filter(({ name }) => isMeasured || !name.startsWith(eventLoopLag))
    return known.map(({ name, help, type, values }) => ({
      name,
      help,
      // An enumeration in its types, a word in its objects.
      type: String(type) as Figure['type'],
      series: values.map((value) => {
        const named = 'metricName' in value ? String(value.metricName) : name
        return seriesName(named, labelText(value.labels as Labels))
      }),
      values: values.map(({ value }) => value),
    }))
  }
}

function watched(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  for (const name of misnamed) register.removeSingleMetric(name)
  return register
}
