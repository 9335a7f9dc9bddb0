import { cutTo, shownName, widthOf } from './shown-text.ts'

export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string | number
  /** A number: set to the right. false. */
  readonly isNumber?: boolean
  /** May be cut where the terminal is narrow. false. */
  readonly mayShrink?: boolean
}

const gap = '  '
/** A column that shrinks keeps this many columns. */
const leastColumns = 8

/** Lines of a table, the titles first. `columns`: how wide it may be; Infinity: nothing is cut. */
export function tableLines<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  columns: number,
): readonly string[] {
  const cells = rows.map((row) => all.map(({ value }) => shownName(String(value(row)))))
  const natural = all.map(({ title }, at) => {
    return cells.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), title.length)
  })
  const widths = shrunk(all, natural, columns)
  const line = (words: readonly string[]): string => {
    const set = all.map(({ isNumber }, at) => {
      const [text, width] = [cutTo(words[at] ?? '', widths[at] ?? 0), widths[at] ?? 0]
      const blanks = ' '.repeat(Math.max(0, width - widthOf(text)))
      return isNumber ? blanks + text : text + blanks
    })
    const whole = set.join(gap).trimEnd()
    return Number.isFinite(columns) ? cutTo(whole, columns) : whole
  }
  return [line(all.map(({ title }) => title.toUpperCase())), ...cells.map(line)]
}

/** Takes from the widest columns that may shrink until the table fits. */
function shrunk<Row>(
  all: readonly Column<Row>[],
  natural: readonly number[],
  columns: number,
): readonly number[] {
  const widths = [...natural]
  const most = columns - gap.length * (all.length - 1)
  let excess = widths.reduce((sum, width) => sum + width, 0) - most
  while (excess > 0) {
    const [widest] = all
      .flatMap(({ mayShrink }, at) => (mayShrink ? [at] : []))
      .filter((at) => (widths[at] ?? 0) > leastColumns)
      .sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0))
    if (widest === undefined) return widths
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  return widths
}
