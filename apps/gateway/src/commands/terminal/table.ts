import { cutTo, shownName, widthOf } from './shown-text.ts'

export interface Column<Row> {
  readonly title: string
  /** Ages are those at a time, milliseconds since 1970. */
  readonly value: (row: Row, nowMs: number) => string | number
  /** A number: set to the right. false. */
  readonly isNumber?: boolean
  /** May be cut where the terminal is narrow. false. */
  readonly mayShrink?: boolean
  /** A column that shrinks keeps this many columns of the terminal. 8. */
  readonly min?: number
  /** May be left out where the terminal is too narrow for all, the highest first. never. */
  readonly rank?: number
}

const gap = '  '
const usualLeast = 8

/**
 * Lines of a table, the titles first. `columns`: how wide it may be; Infinity: nothing is cut. No library leaves out columns
 * by their rank where a terminal is narrow.
 */
export function tableLines<Row>(
  given: readonly Column<Row>[],
  rows: readonly Row[],
  columns: number,
): readonly string[] {
  const nowMs = Date.now()
  const texts = given.map((column): Texts<Row> => {
    const words = rows.map((row) => shownName(String(column.value(row, nowMs))))
    const { title } = column
    return {
      column,
      words,
      width: words.reduce((max, word) => Math.max(max, widthOf(word)), title.length),
    }
  })
  const shown = fitting(texts, columns)
  const all = shown.map(({ column }) => column)
  const cells = rows.map((_row, at) => shown.map(({ words }) => words[at] ?? ''))
  const widths = shrunk(
    all,
    shown.map(({ width }) => width),
    columns,
  )
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

/** A column's words, and the widest of them. */
interface Texts<Row> {
  readonly column: Column<Row>
  readonly words: readonly string[]
  readonly width: number
}

/** Leaves out columns until the others fit, each as narrow as it may be. */
function fitting<Row>(all: readonly Texts<Row>[], columns: number): readonly Texts<Row>[] {
  const min = all.reduce((sum, { column: { mayShrink, min = usualLeast }, width }) => {
    return sum + gap.length + (mayShrink ? Math.min(width, min) : width)
  }, -gap.length)
  const [first] = all
    .filter(({ column }) => column.rank !== undefined)
    .sort((one, other) => (other.column.rank ?? 0) - (one.column.rank ?? 0))
  if (min <= columns || !first) return all
  return fitting(
    all.filter((texts) => texts !== first),
    columns,
  )
}

/** Takes from the widest columns that may shrink until the table fits. */
function shrunk<Row>(
  all: readonly Column<Row>[],
  natural: readonly number[],
  columns: number,
): readonly number[] {
  const widths = [...natural]
  const max = columns - gap.length * (all.length - 1)
  let excess = widths.reduce((sum, width) => sum + width, 0) - max
  while (excess > 0) {
    const [widest] = all
      .flatMap(({ mayShrink }, at) => (mayShrink ? [at] : []))
      .filter((at) => (widths[at] ?? 0) > (all[at]?.min ?? usualLeast))
      .sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0))
    if (widest === undefined) return widths
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  return widths
}
