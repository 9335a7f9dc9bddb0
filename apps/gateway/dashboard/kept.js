/** Names of values that the browser keeps begin with this. */
const prefix = 'crossgear.'

/**
 * A value that the browser keeps; undefined where there is none, or where it keeps nothing.
 *
 * @param {string} name
 * @returns {unknown}
 */
export function readKept(name) {
  try {
    return JSON.parse(localStorage.getItem(prefix + name) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {boolean} false where the browser keeps nothing
 */
export function keep(name, value) {
  try {
    localStorage.setItem(prefix + name, JSON.stringify(value))
    return true
  } catch {
    return false
  }
}
