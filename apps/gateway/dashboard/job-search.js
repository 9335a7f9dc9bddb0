import { useEffect, useReducer, useRef, useState } from './lib/hooks.js'
import { wordsOf } from './api.js'
import { useShared } from './state.js'

/** @typedef {import('./types.d.ts').Job} Job */
/** @typedef {import('./types.d.ts').JobPage} JobPage */
/** @typedef {import('./api.js').Query} Query */

/**
 * One page of a list of jobs, which takes several calls where few jobs match: each looks at some jobs.
 *
 * @typedef {object} Search
 * @property {readonly Job[]} jobs
 * @property {number} lookedAt
 * @property {number} unsearched jobs whose payload is too long
 * @property {string | null} cursor what comes after
 * @property {number} calls
 */

/** @type {Search} */
const none = { jobs: [], lookedAt: 0, unsearched: 0, cursor: '', calls: 0 }

/**
 * Goes on until the page is full, all was looked at, or the signal says stop.
 *
 * @param {object} order
 * @param {import('./api.js').Api} order.api
 * @param {Query} order.query with a limit
 * @param {Search} order.from
 * @param {AbortSignal} order.signal
 * @param {(search: Search) => void} order.onPiece called where another call follows
 * @returns {Promise<Search>}
 */
export async function searchJobs({ api, query, from, signal, onPiece }) {
  const limit = Number(query['limit'])
  for (let search = from; ;) {
    const asked = {
      ...query,
      payload_start: true,
      limit: limit - search.jobs.length,
      cursor: search.cursor ?? '',
    }
    const page = /** @type {JobPage} */ (await api.get('/jobs', asked, signal))
    search = {
      jobs: [...search.jobs, ...page.jobs],
      lookedAt: search.lookedAt + page.looked_at,
      unsearched: search.unsearched + page.unsearched,
      cursor: page.cursor,
      calls: search.calls + 1,
    }
    if (search.cursor === null || search.jobs.length >= limit || signal.aborted) return search
    onPiece(search)
  }
}

/**
 * @typedef {object} SearchState
 * @property {string} key the search that is shown
 * @property {'runs' | 'stopped' | 'done'} stage
 * @property {Search} [search]
 * @property {string} [failed] the search that failed
 * @property {string} [error]
 */

/**
 * A page of jobs. One call answers most lists, and is made again every few seconds; a longer search is shown as it goes, and
 * is made again when the viewer says so.
 *
 * @param {Query} query
 * @param {number} everyMs 0: once
 */
export function useJobSearch(query, everyMs) {
  const { api } = useShared()
  const key = JSON.stringify(query)
  const [state, setState] = useState(/** @type {SearchState} */ ({ key: '', stage: 'runs' }))
  const [turn, reload] = useReducer((/** @type {number} */ before) => before + 1, 0)
  const stop = useRef(new AbortController())
  const from = useRef(/** @type {Search | undefined} */ (undefined))
  const mark = `${turn} ${key}`
  useEffect(() => {
    let isOver = false
    const first = from.current ?? { ...none, cursor: String(query['cursor'] ?? '') }
    from.current = undefined
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    const again = () => {
      if (everyMs > 0 && !isOver) timer = setTimeout(() => void read(), everyMs)
    }
    const read = async () => {
      if (document.hidden) {
        again()
        return
      }
      stop.current = new AbortController()
      const { signal } = stop.current
      let latest = first
      const onPiece = (/** @type {Search} */ search) => {
        latest = search
        if (!isOver) setState({ key: mark, search, stage: 'runs' })
      }
      try {
        const search = await searchJobs({ api, query, signal, onPiece, from: first })
        if (isOver) return
        setState({ key: mark, search, stage: 'done' })
        if (search.calls > 1) return
      } catch (error) {
        if (isOver) return
        if (signal.aborted) {
          setState({ key: mark, search: latest, stage: 'stopped' })
          return
        }
        setState((before) => ({ ...before, failed: mark, error: wordsOf(error), stage: 'done' }))
      }
      again()
    }
    void read()
    return () => {
      isOver = true
      stop.current.abort()
      clearTimeout(timer)
    }
  }, [api, key, everyMs, turn])
  const isShown = state.key === mark
  return {
    search: state.search,
    error: state.error,
    stage: isShown ? state.stage : 'runs',
    /** The search takes more than one call. */
    isLong:
      isShown && state.search !== undefined && (state.search.calls > 1 || state.stage !== 'done'),
    busy: (isShown && state.stage !== 'runs') || state.failed === mark ? 'false' : 'true',
    reload: () => reload(undefined),
    stop: () => stop.current.abort(),
    /** Continues a search that was stopped. */
    goOn: () => {
      from.current = state.search
      reload(undefined)
    },
  }
}
