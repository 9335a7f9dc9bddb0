import type { Figure, FigureValue } from './figure.ts'

/** The two formats of a scrape. */
export const contentTypes = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const
export type Format = keyof typeof contentTypes

/** The format that a scraper asks for. */
export function formatFor(accept: string | undefined): Format {
  return accept?.includes('application/openmetrics-text') ? 'openMetrics' : 'prometheus'
}

/** Figures as a scraper reads them. */
export function render(figures: readonly Figure[], format: Format): string {
  const lines: string[] = []
  for (const figure of figures) {
    const isCounter = format === 'openMetrics' && figure.type === 'counter'
    const name = isCounter ? figure.name.replace(/_total$/, '') : figure.name
    lines.push(`# HELP ${name} ${escaped(figure.help)}`, `# TYPE ${name} ${figure.type}`)
    const valueName = isCounter ? `${name}_total` : name
    for (const value of figure.values) lines.push(line(value, valueName))
  }
  if (format === 'openMetrics') lines.push('# EOF')
  return `${lines.join('\n')}\n`
}

function line({ metricName, labels, value }: FigureValue, name: string): string {
  let text = ''
  for (const label in labels) {
    const of = labels[label] ?? ''
    const shown = typeof of === 'string' ? quoted(of) : of
    text += `${text === '' ? '' : ','}${label}="${shown}"`
  }
  const named = metricName ?? name
  return text === '' ? `${named} ${number(value)}` : `${named}{${text}} ${number(value)}`
}

function number(value: number): string {
  if (Number.isFinite(value)) return String(value)
  if (Number.isNaN(value)) return 'NaN'
  return value > 0 ? '+Inf' : '-Inf'
}

const special = /[\\\n"]/

function quoted(text: string): string {
  return special.test(text) ? escaped(text).replaceAll('"', '\\"') : text
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
