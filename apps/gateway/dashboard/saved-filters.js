import { keep, readKept } from './kept.js'

/**
 * A filter with a name, kept in this browser.
 *
 * @typedef {{ readonly name: string, readonly href: string }} SavedFilter
 */

export const maxSaved = 50
export const maxNameLength = 60

/** @returns {readonly SavedFilter[]} */
export function savedFilters() {
  const kept = readKept('filters')
  if (!Array.isArray(kept)) return []
  return kept.filter(isSaved).slice(0, maxSaved)
}

/**
 * Keeps a filter in place of one with the same name.
 *
 * @param {SavedFilter} filter
 * @returns {string | undefined} why it is not kept
 */
export function saveFilter(filter) {
  const others = savedFilters().filter(({ name }) => name !== filter.name)
  if (others.length >= maxSaved) return `${maxSaved} filters are kept: remove one first.`
  const all = [...others, filter].toSorted((one, other) => one.name.localeCompare(other.name))
  return keep('filters', all) ? undefined : 'This browser keeps nothing for the page.'
}

/** @param {string} name */
export function removeFilter(name) {
  keep(
    'filters',
    savedFilters().filter((filter) => filter.name !== name),
  )
}

/**
 * The browser may have kept anything: only places of the dashboard itself become links.
 *
 * @param {unknown} value
 * @returns {value is SavedFilter}
 */
function isSaved(value) {
  const { name, href } = /** @type {Partial<Record<string, unknown>>} */ (value ?? {})
  return typeof name === 'string' && typeof href === 'string' && href.startsWith('#/')
}
