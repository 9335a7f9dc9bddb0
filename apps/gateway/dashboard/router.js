import { useEffect, useState } from './lib/hooks.js'

/**
 * The place in the dashboard, which is all in the address: `#/jobs?state=dead`, `#/job/1-27`.
 *
 * @typedef {{ readonly page: string, readonly id: string, readonly query: URLSearchParams }} Route
 */

/**
 * @param {string} hash
 * @returns {Route}
 */
export function routeOf(hash) {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s, 2)
  const [page = '', id = ''] = path.split('/', 2)
  return { page: page || 'overview', id: decoded(id), query: new URLSearchParams(query) }
}

/**
 * The address of a page. Always within the dashboard, whatever the names are.
 *
 * @param {string} page
 * @param {string} [id]
 * @param {Readonly<Record<string, string | undefined>>} [query]
 */
export function hrefOf(page, id = '', query = {}) {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []))
  const words = new URLSearchParams(given).toString()
  const path = id === '' ? page : `${page}/${encodeURIComponent(id)}`
  return `#/${path}${words && `?${words}`}`
}

/** @param {string} href what {@link hrefOf} gave */
export function go(href) {
  globalThis.location.hash = href
}

/**
 * Changes some of the query in place: no entry of the history for each letter.
 *
 * @param {Route} route
 * @param {Readonly<Record<string, string | undefined>>} changes
 */
export function refine({ page, id, query }, changes) {
  const all = { ...Object.fromEntries(query), ...changes }
  globalThis.history.replaceState(null, '', hrefOf(page, id, all))
  globalThis.dispatchEvent(new HashChangeEvent('hashchange'))
}

/** @returns {Route} */
export function useRoute() {
  const [hash, setHash] = useState(globalThis.location.hash)
  useEffect(() => {
    const onChange = () => setHash(globalThis.location.hash)
    globalThis.addEventListener('hashchange', onChange)
    return () => globalThis.removeEventListener('hashchange', onChange)
  }, [])
  return routeOf(hash)
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
