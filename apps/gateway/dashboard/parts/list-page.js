import { html } from '../html.js'
import { useEffect, useRef, useState } from '../lib/hooks.js'
import { count, plural } from '../format.js'
import { refine } from '../router.js'
import { useMayAct, useRead } from '../state.js'
import { Loading, PageHead, SearchField, Trouble } from './bits.js'
import { useOrders } from './confirm-act.js'
import { ExportLinks } from './export-links.js'
import { Sparkline } from './sparkline.js'
import { Pager, Table } from './table.js'

/** @typedef {import('./table.js').Sorting} Sorting */
/** @typedef {import('./confirm-act.js').Order} Order */
/** @typedef {import('../lib/preact.js').ComponentChildren} Children */
/** @template Row @typedef {import('./table.js').Column<Row>} Column */

const rowsPerPage = 50

/** Values that are kept of one thing: two minutes, one each two seconds. */
const keptValues = 60

/** The last values of many things by name, while the page is open. */
class Trends {
  constructor() {
    /** @type {Map<string, readonly number[]>} */
    this.all = new Map()
  }

  /**
   * @param {string} name
   * @param {number} value
   */
  add(name, value) {
    this.all.set(name, [...(this.all.get(name) ?? []).slice(1 - keptValues), value])
  }

  /**
   * @param {string} name
   * @returns {readonly number[]}
   */
  of(name) {
    return this.all.get(name) ?? []
  }
}

/**
 * A list of the API with pages and an order, all of which lives in the address.
 *
 * @param {import('../router.js').Route} route
 * @param {Sorting} [first] its order where the address has none
 */
export function listOf(route, first = { by: 'name', order: 'asc' }) {
  const { query } = route
  const contains = query.get('contains') ?? ''
  const cursor = query.get('cursor') ?? ''
  /** @type {Sorting} */
  const sorting = {
    by: query.get('sort') ?? first.by,
    order: orderOf(query, first.order),
  }
  return {
    contains,
    cursor,
    sorting,
    filter: { contains, sort: sorting.by, order: sorting.order },
    /** For the API. */
    asked: { contains, cursor, limit: rowsPerPage, sort: sorting.by, order: sorting.order },
    onSort: (/** @type {Sorting} */ { by, order }) =>
      refine(route, { sort: by, order, cursor: undefined }),
    onSearch: (/** @type {string} */ value) =>
      refine(route, { contains: value, cursor: undefined }),
    onPage: (/** @type {string} */ next) => refine(route, { cursor: next }),
  }
}

/**
 * The order of the address, or else the one that the list has first.
 *
 * @param {URLSearchParams} query
 * @param {'asc' | 'desc'} first
 */
export function orderOf(query, first) {
  const given = query.get('order')
  return given === 'asc' || given === 'desc' ? given : first
}

/**
 * Values of each row, as they were at the last reads.
 *
 * @template Row
 * @param {readonly Row[] | undefined} rows
 * @param {(row: Row) => string} keyOf
 * @param {(row: Row) => number} valueOf
 */
export function useTrends(rows, keyOf, valueOf) {
  const trends = useRef(new Trends())
  const [, setTurn] = useState(0)
  useEffect(() => {
    if (!rows) return
    for (const row of rows) trends.current.add(keyOf(row), valueOf(row))
    setTurn((turn) => turn + 1)
  }, [rows])
  return trends.current
}

/**
 * A searched and sorted list of the lines that jobs stand in: functions, or queues.
 *
 * @template {{ waiting: number }} Row
 * @template {{ total: number, cursor: string | null }} Page
 * @param {object} props
 * @param {import('../router.js').Route} props.route
 * @param {string} props.path of the API
 * @param {(page: Page) => readonly Row[]} props.rowsOf
 * @param {(row: Row) => string} props.keyOf
 * @param {readonly Column<Row>[]} props.columns before those of the trend and of the acts
 * @param {string} props.title
 * @param {string} props.hint
 * @param {string} props.noun a row, in words
 * @param {(isSearch: boolean) => Children} props.none shown in the place of an empty list
 * @param {(row: Row, ask: (order: Order) => void) => Children} props.acts of a row, for an operator
 */
export function ListPage({ route, path, rowsOf, keyOf, columns, title, hint, noun, none, acts }) {
  const list = listOf(route)
  /** @type {import('../state.js').Reading<Page>} */
  const { data, error, busy, reload } = useRead(path, list.asked)
  const rows = data && rowsOf(data)
  const trends = useTrends(rows, keyOf, ({ waiting }) => waiting)
  const mayAct = useMayAct()
  const { ask, dialog } = useOrders(reload)
  /** @type {Column<Row>} */
  const trend = {
    id: 'trend',
    label: 'Waiting, 2 min',
    isNumber: true,
    cell: (row) =>
      html`<${Sparkline} values=${trends.of(keyOf(row))} label=${`Waiting: ${count(row.waiting)}`} />`,
  }
  /** @type {Column<Row>} */
  const actsOfRow = {
    id: 'acts',
    label: 'Acts',
    isHidden: true,
    isNumber: true,
    cell: (row) => acts(row, ask),
  }
  return html`<div aria-busy=${busy}>
    <${PageHead} title=${title} hint=${hint} />
    <div class="toolbar" role="search">
      <${SearchField}
        label=${`Search ${title.toLowerCase()}`}
        maxLength=${255}
        value=${list.contains}
        onSearch=${list.onSearch}
      />
    </div>
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${
      rows &&
      (rows.length > 0
        ? html`<${Table}
          caption=${title}
          columns=${[...columns, trend, ...(mayAct ? [actsOfRow] : [])]}
          rows=${rows}
          keyOf=${keyOf}
          sorting=${list.sorting}
          onSort=${list.onSort}
        />`
        : none(list.contains !== ''))
    }
    ${
      rows &&
      data.total > 0 &&
      html`<${Pager}
      words=${`${plural(rows.length, noun)} of ${count(data.total)}`}
      isFirst=${list.cursor === ''}
      next=${data.cursor}
      onPage=${list.onPage}
    >
      <${ExportLinks} list=${path.slice(1)} filter=${list.filter} />
    <//>`
    }
    ${dialog}
  </div>`
}
