import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'
import { labelText, seriesName, type Aggregator, type Figure, type Labels } from './figure.ts'

/** prom-client's objects, including those of histograms. */
type PromMetric = MetricObjectWithValues<MetricValue<string>> & { readonly aggregator?: Aggregator }

/** Figures of a prom-client registry. */
export async function promFigures(registry: Registry): Promise<readonly Figure[]> {
  const metrics = (await registry.getMetricsAsJSON()) as readonly PromMetric[]
  return metrics.map(({ name, help, type, aggregator, values }) => ({
    ...{ name, help, aggregator },
    // An enumeration in its types, a word in its objects.
    type: String(type) as Figure['type'],
    series: values.map((value) => {
      const named = 'metricName' in value ? String(value.metricName) : name
      return seriesName(named, labelText(value.labels as Labels))
    }),
    values: values.map(({ value }) => value),
  }))
}
