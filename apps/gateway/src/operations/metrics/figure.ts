/**
 * A metric with its values. A series is a name with its labels in the scrape format: text made once, since thousands are
 * shown again and again, which prom-client's objects would be built for anew; that has the figures of the process alone.
 */
export interface Figure {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly series: readonly string[]
  /** In the order of the series. */
  readonly values: readonly number[]
  /** Traces that explain values, by series, as OpenMetrics shows them. */
  readonly exemplars?: Readonly<Record<string, string>>
}

export type Labels = Readonly<Record<string, string | number>>
/** Labels in the scrape format, and a value. */
export type Value = readonly [labels: string, value: number]

const special = /[\\\n"]/

/** Labels in the scrape format: `door="gearman"`. */
export function labelText(labels: Labels): string {
  let text = ''
  for (const label in labels) {
    const value = String(labels[label])
    const shown = special.test(value)
      ? value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
      : value
    text += `${text === '' ? '' : ','}${label}="${shown}"`
  }
  return text
}

export function seriesName(name: string, labels: string): string {
  return labels === '' ? name : `${name}{${labels}}`
}

export function gauge(name: string, help: string, values: readonly Value[]): Figure {
  return figure('gauge', name, help, values)
}

export function counter(name: string, help: string, values: readonly Value[]): Figure {
  return figure('counter', name, help, values)
}

/** The value of a figure without labels. */
export function only(value: number): readonly Value[] {
  return [['', value]]
}

export function figure(
  type: Figure['type'],
  name: string,
  help: string,
  values: readonly Value[],
): Figure {
  return {
    name,
    help,
    type,
    series: values.map(([labels]) => seriesName(name, labels)),
    values: values.map(([, value]) => value),
  }
}
