import type { Figure } from './figure.ts'

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

/** The last line of a page. */
export const lastLine: Readonly<Record<Format, string>> = { prometheus: '', openMetrics: '# EOF\n' }

/** Figures in the scrape format. */
export function render(figures: readonly Figure[], format: Format): string {
  let text = ''
  for (const { name, help, type, series, values, exemplars } of figures) {
    // OpenMetrics names a counter without the suffix of its series.
    const family =
      format === 'openMetrics' && type === 'counter' ? name.replace(/_total$/, '') : name
    text += `# HELP ${family} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`
    text += `# TYPE ${family} ${type}\n`
    for (let at = 0; at < series.length; at += 1) {
      const one = series[at] ?? ''
      const exemplar = format === 'openMetrics' ? exemplars?.[one] : undefined
      text += `${one} ${shown(values[at] ?? 0)}${exemplar === undefined ? '' : ` # ${exemplar}`}\n`
    }
  }
  return text
}

function shown(value: number): string {
  if (Number.isFinite(value)) return String(value)
  if (Number.isNaN(value)) return 'NaN'
  return value > 0 ? '+Inf' : '-Inf'
}
