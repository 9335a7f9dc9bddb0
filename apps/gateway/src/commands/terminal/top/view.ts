import { oldestOf, waitWords } from '../lanes/columns.ts'
import { cutTo, shownName, shownRate } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'
import type { Look, TopRow } from './looks.ts'

/** A column of the table, by which it can be sorted. */
interface TopColumn extends Column<TopRow> {
  readonly name: string
  /** The most first, or names in their order. */
  readonly order: (one: TopRow, other: TopRow) => number
}

const max =
  (of: (row: TopRow) => number) =>
  (one: TopRow, other: TopRow): number =>
    of(other) - of(one)
const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
/** Without a rank it is shown however narrow the terminal is. */
const number = (title: string, of: (row: TopRow) => number, rank?: number): TopColumn => ({
  name: title,
  title,
  value: of,
  order: max(of),
  isNumber: true,
  ...(rank !== undefined && { rank }),
})

const topColumns: readonly TopColumn[] = [
  {
    name: 'function',
    title: 'function',
    mayShrink: true,
    min: 12,
    value: (row) => row.function,
    order: (one, other) => byText(one.function, other.function),
  },
  {
    name: 'queue',
    title: 'queue',
    mayShrink: true,
    min: 7,
    value: ({ queue }) => queue,
    order: (one, other) => byText(one.queue, other.queue),
  },
  number('waiting', ({ waiting }) => waiting),
  number('running', ({ running }) => running),
  {
    name: 'waits',
    title: 'waits for',
    mayShrink: true,
    min: 9,
    rank: 0,
    value: waitWords,
    order: (one, other) => byText(waitWords(other), waitWords(one)),
  },
  {
    ...number('rate', ({ rate }) => rate, 1),
    title: 'rate/s',
    value: ({ rate }) => shownRate(rate),
  },
  { ...number('oldest', (row) => row.oldest_waiting_seconds, 2), value: oldestOf },
  { ...number('scheduled', ({ scheduled }) => scheduled, 7), title: 'sched' },
  number('retry', ({ retry }) => retry, 5),
  number('dead', ({ dead }) => dead, 4),
  number('workers', ({ workers }) => workers, 3),
  {
    name: 'doors',
    title: 'busy/all by door',
    mayShrink: true,
    rank: 8,
    value: (row) => doorsOf(row),
    order: (one, other) => byText(doorsOf(other), doorsOf(one)),
  },
]

export const sortNames: readonly string[] = topColumns.map(({ name }) => name)
export const usualSort = 'waiting'

/** How the table is shown. */
export interface Shown {
  readonly sort: string
  readonly isReversed: boolean
}

export function sorted(rows: readonly TopRow[], { sort, isReversed }: Shown): readonly TopRow[] {
  const order = topColumns.find(({ name }) => name === sort)?.order ?? (() => 0)
  const byName = (one: TopRow, other: TopRow): number =>
    byText(one.function, other.function) || byText(one.queue, other.queue)
  const all = rows.toSorted((one, other) => order(one, other) || byName(one, other))
  return isReversed ? all.toReversed() : all
}

/** The column that rows are sorted by stays in a narrow table. */
export function rowLines(
  rows: readonly TopRow[],
  columns: number,
  sort: string,
): readonly string[] {
  const shown = topColumns.map(({ rank, ...column }) => ({
    ...column,
    ...(rank !== undefined && column.name !== sort && { rank }),
  }))
  return tableLines(shown, rows, columns)
}

/** The lines above the table. */
export function headLines(
  { overview, total, count, functions, first }: Look,
  rate: number,
  columns: number,
): readonly string[] {
  const { node, version, nodes, at, waiting, running, scheduled, retry, dead } = overview
  const left = total > functions.length ? `, ${functions.length} of ${total} lines by ${first}` : ''
  const figures = { waiting, running, scheduled, retry, dead, 'done/s': shownRate(rate) }
  return [
    `crossgear ${version}  node ${shownName(node)} of ${nodes}  ${at.slice(11, 19)} UTC  functions ${count}${left}`,
    Object.entries(figures)
      .map(([name, figure]) => `${name} ${figure}`)
      .join('  '),
  ].map((line) => (Number.isFinite(columns) ? cutTo(line, columns) : line))
}

function doorsOf(row: TopRow): string {
  return Object.entries(row.by_door)
    .map(([door, { idle, busy }]) => `${door} ${busy}/${idle + busy}`)
    .join(', ')
}
