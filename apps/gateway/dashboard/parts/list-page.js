import { useEffect, useRef, useState } from '../lib/hooks.js'
import { refine } from '../router.js'
import { Trends } from '../trends.js'

/** @typedef {import('./table.js').Sorting} Sorting */

const rowsPerPage = 50

/**
 * A list of the API with pages and an order, all of which lives in the address.
 *
 * @param {import('../router.js').Route} route
 */
export function listOf(route) {
  const { query } = route
  const contains = query.get('contains') ?? ''
  const cursor = query.get('cursor') ?? ''
  /** @type {Sorting} */
  const sorting = {
    by: query.get('sort') ?? 'name',
    order: query.get('order') === 'desc' ? 'desc' : 'asc',
  }
  return {
    ...{ contains, cursor, sorting },
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
