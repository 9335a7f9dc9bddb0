import { html } from '../html.js'
import { focusActs } from '../keys.js'
import { useEffect, useRef, useState } from '../lib/hooks.js'

/** @typedef {import('../lib/preact.js').ComponentChildren} Children */

/**
 * One column.
 *
 * @template Row
 * @typedef {object} Column
 * @property {string} id
 * @property {string} label
 * @property {(row: Row) => Children} cell
 * @property {boolean} [isNumber] stands at the right
 * @property {boolean} [isMain] the name of the row, which stands alone on narrow screens
 * @property {boolean} [isHidden] its label is for screen readers only; it stays in sight
 * @property {string} [sort] the word by which the API sorts it
 * @property {(row: Row) => string | number | null} [orderBy] by which the table sorts a list that it has as a whole
 */

/** @typedef {{ readonly by: string, readonly order: 'asc' | 'desc' }} Sorting */

/**
 * A table whose rows become cards on narrow screens.
 *
 * @template Row
 * @param {object} props
 * @param {string} props.caption for screen readers
 * @param {readonly Column<Row>[]} props.columns
 * @param {readonly Row[]} props.rows
 * @param {(row: Row, at: number) => string} props.keyOf
 * @param {Sorting} [props.sorting]
 * @param {(sorting: Sorting) => void} [props.onSort]
 * @param {{ chosen: ReadonlySet<string>, toggle: (keys: readonly string[], isOn: boolean) => void }} [props.selection]
 */
export function Table({ caption, columns, rows: given, keyOf, selection, ...list }) {
  const own = useOwnOrder(columns, given)
  const { rows, sorting, onSort } = list.onSort ? { ...list, rows: given } : own
  const keys = rows.map((row, at) => keyOf(row, at))
  const areAllChosen = keys.length > 0 && keys.every((key) => selection?.chosen.has(key))
  return html`<${Frame} name=${caption}>
    <table>
      <caption class="unseen">${caption}</caption>
      <thead>
        <tr>
          ${
            selection &&
            html`<th class="pick" scope="col">
            <input
              type="checkbox"
              aria-label="Select all on this page"
              checked=${areAllChosen}
              onChange=${() => selection.toggle(keys, !areAllChosen)}
            />
          </th>`
          }
          ${columns.map(
            (column) => html`<${Head}
            key=${column.id}
            column=${column}
            sorting=${sorting}
            onSort=${onSort}
          />`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row, at) => {
          const key = keys[at] ?? ''
          const isChosen = selection?.chosen.has(key) ?? false
          return html`<tr key=${key} class=${isChosen ? 'chosen' : ''} data-row>
            ${
              selection &&
              html`<td class="pick">
              <input
                type="checkbox"
                aria-label=${`Select ${key}`}
                checked=${isChosen}
                onChange=${() => selection.toggle([key], !isChosen)}
              />
              ${
                isChosen &&
                html`<button type="button" class="skip" onClick=${focusActs}>
                Acts on the selection
              </button>`
              }
            </td>`
            }
            ${columns.map(
              (column) =>
                html`<td key=${column.id} class=${classOf(column)} data-label=${column.label}>
                ${column.cell(row)}
              </td>`,
            )}
          </tr>`
        })}
      </tbody>
    </table>
  <//>`
}

/**
 * The order of a list that the table has as a whole, by its columns that have `orderBy`; nothing stands last.
 *
 * @template Row
 * @param {readonly Column<Row>[]} columns
 * @param {readonly Row[]} rows
 */
function useOwnOrder(columns, rows) {
  const [sorting, setSorting] = useState(/** @type {Sorting | undefined} */ (undefined))
  const orderBy = columns.find(({ id }) => id === sorting?.by)?.orderBy
  const sorted = orderBy
    ? rows.toSorted((one, other) => compare(orderBy(one), orderBy(other), sorting?.order))
    : rows
  return { rows: sorted, sorting, onSort: setSorting }
}

/**
 * @param {string | number | null} one
 * @param {string | number | null} other
 * @param {'asc' | 'desc' | undefined} order
 */
function compare(one, other, order) {
  if (one === other) return 0
  if (one === null) return 1
  if (other === null) return -1
  return one < other === (order !== 'desc') ? -1 : 1
}

/**
 * The part of the page in which a table scrolls where it is too wide: its edges show where there is more, and keys can
 * scroll it.
 *
 * @param {{ name: string, children?: Children }} props
 */
function Frame({ name, children }) {
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null))
  const [more, setMore] = useState('')
  useEffect(() => {
    const element = frame.current
    if (!element) return undefined
    const look = () => {
      const { scrollLeft, scrollWidth, clientWidth } = element
      const right = scrollWidth - clientWidth - scrollLeft
      setMore([scrollLeft > 1 && 'left', right > 1 && 'right'].filter(Boolean).join(' '))
    }
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    if (element.firstElementChild) sizes.observe(element.firstElementChild)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      sizes.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [])
  const scrolls = more === '' ? {} : { role: 'region', tabindex: 0, 'aria-label': name }
  return html`<div class="table-edges" data-more=${more}>
    <div class="table-frame" ref=${frame} ...${scrolls}>${children}</div>
    ${more !== '' && html`<p class="table-hint" aria-hidden="true">⇄ Scroll for more columns</p>`}
  </div>`
}

/** @param {{ isNumber?: boolean, isMain?: boolean, isHidden?: boolean }} column */
function classOf({ isNumber = false, isMain = false, isHidden = false }) {
  const words = [isNumber && 'number', isMain && 'main', isHidden && 'pinned']
  return words.filter(Boolean).join(' ')
}

/**
 * @param {object} props
 * @param {Column<never>} props.column
 * @param {Sorting} [props.sorting]
 * @param {(sorting: Sorting) => void} [props.onSort]
 */
function Head({ column, sorting, onSort }) {
  const { label, isNumber, isHidden } = column
  const sort = column.sort ?? (column.orderBy && column.id)
  const order = sort !== undefined && sorting?.by === sort ? sorting.order : undefined
  const content = isHidden ? html`<span class="unseen">${label}</span>` : label
  if (sort === undefined || !onSort) {
    return html`<th scope="col" class=${classOf(column)}>${content}</th>`
  }
  const first = isNumber ? 'desc' : 'asc'
  const other = order === 'asc' ? 'desc' : 'asc'
  const next = order === undefined ? first : other
  const spoken = order === 'asc' ? 'ascending' : 'descending'
  return html`<th scope="col" class=${classOf(column)} aria-sort=${order ? spoken : 'none'}>
    <button type="button" class="sort" onClick=${() => onSort({ by: sort, order: next })}>
      ${content}<span class="arrow" aria-hidden="true">${order ? arrows[order] : '↕'}</span>
    </button>
  </th>`
}

const arrows = /** @type {const} */ ({ asc: '↑', desc: '↓' })

/**
 * The buttons for the next and the first page of a list.
 *
 * @param {object} props
 * @param {string} props.words what is shown
 * @param {boolean} props.isFirst
 * @param {string | null} props.next the cursor
 * @param {(cursor: string) => void} props.onPage an empty cursor is the first page
 * @param {Children} [props.children] what else there is for the whole list
 */
export function Pager({ words, isFirst, next, onPage, children }) {
  return html`<nav class="pager" aria-label="Pages of the list">
    <span class="muted" role="status">${words}</span>
    ${children}
    <span class="grow"></span>
    <button type="button" disabled=${isFirst} onClick=${() => onPage('')}>First page</button>
    <button type="button" disabled=${next === null} onClick=${() => onPage(next ?? '')}>
      Next page
    </button>
  </nav>`
}
