import type { Judged } from './figures.ts'
import { spreadOf, type Spread } from './statistics.ts'

const headings = ['figure', 'gateway', 'held against', 'ratio (min to max)', 'target', ''] as const

/** Three significant digits: 41,200, 0.482, 13.1. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-'
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumSignificantDigits: 3 })
}

function formatSpread({ median, min, max }: Spread, unit = ''): string {
  const words = formatNumber(median) + unit
  return min === max ? words : `${words} (${formatNumber(min)} to ${formatNumber(max)})`
}

function cellsOf(figure: Judged): readonly string[] {
  const { against, target, ratio } = figure
  const theirs =
    against === undefined ? [] : [formatNumber(medianOf(against.samples)), against.name]
  return [
    figure.name,
    formatSpread(figure.median, ` ${figure.unit}`),
    theirs.join(' '),
    ratio === undefined ? '' : formatSpread(ratio),
    target === undefined ? '' : `${target.relation} ${formatNumber(target.bound)}`,
    figure.verdict ?? '',
  ]
}

function medianOf(samples: readonly number[]): number {
  return spreadOf(samples).median
}

/** The table of all figures. */
export function formatTable(figures: readonly Judged[]): string {
  return formatRows(headings, figures.map(cellsOf))
}

/** A Markdown table with aligned columns, readable in a terminal too. */
export function formatRows(
  headings: readonly string[],
  cells: readonly (readonly string[])[],
): string {
  const rows = [headings, ...cells]
  const widths = headings.map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [line(headings), rule, ...rows.slice(1).map(line)].join('\n')
}
