import type { LabelValues, Metric } from 'prom-client'

export type Labels = LabelValues<string>
export type Value = readonly [labels: Labels, value: number]

/** A value as prom-client's registry shows it: it makes a text of shared labels once, as long as their object lives. */
export interface ShownValue {
  /** Name of the series. The metric's. */
  readonly metricName?: string
  readonly sharedLabels: Labels
  readonly value: number
  readonly exemplar?:
    | {
        readonly labelSet: Labels
        readonly value: number
        /** Seconds since 1970. */
        readonly timestamp: number
      }
    | undefined
}

/** Metrics of this process are in no registry but that of a page. */
export const registers: [] = []

/**
 * A metric whose values are kept elsewhere, and read at the scrape, as exporters do. prom-client's own hash the labels at
 * each increment: ten times as long as it takes to count a job in plain numbers.
 */
export function reading(
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  values: readonly ShownValue[],
): Metric {
  const metric = {
    name,
    help,
    type,
    // A page in OpenMetrics gives a counter another name.
    get: async function () {
      return await Promise.resolve({ name: this.name, help, type, values })
    },
  }
  return metric as unknown as Metric
}

export function gauge(name: string, help: string, values: readonly Value[]): Metric {
  return reading('gauge', name, help, values.map(shown))
}

export function counter(name: string, help: string, values: readonly Value[]): Metric {
  return reading('counter', name, help, values.map(shown))
}

/** The value of a figure without labels. */
export function only(value: number): readonly Value[] {
  return [[{}, value]]
}

function shown([sharedLabels, value]: Value): ShownValue {
  return { sharedLabels, value }
}
