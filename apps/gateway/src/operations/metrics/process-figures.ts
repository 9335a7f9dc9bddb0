import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'

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

  /** The figures as they are now: a page that shows them reads nothing again. */
  async figures(): Promise<readonly Metric[]> {
    const registry = (this.#registry ??= watched())
    const read = await registry.getMetricsAsJSON()
    const isMeasured = read.some(
      ({ name, values }) =>
        name === `${eventLoopLag}mean_seconds` &&
        values.every(({ value }) => Number.isFinite(value)),
    )
    return read
      .filter(({ name }) => isMeasured || !name.startsWith(eventLoopLag))
      .flatMap(({ name }) => registry.getSingleMetric(name) ?? [])
      .map((metric) => Object.create(metric, { collect: { value: undefined } }) as Metric)
  }
}

function watched(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  for (const name of misnamed) register.removeSingleMetric(name)
  return register
}
