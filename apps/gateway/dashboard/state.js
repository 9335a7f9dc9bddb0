import { createContext } from './lib/preact.js'
import { useContext, useEffect, useReducer, useRef, useState } from './lib/hooks.js'
import { codeOf, wordsOf } from './api.js'

/** @typedef {import('./types.d.ts').Session} Session */

/**
 * State that all pages share.
 *
 * @typedef {object} Shared
 * @property {import('./api.js').Api} api
 * @property {import('./live.js').Live} live
 * @property {Session} session
 * @property {(words: string, kind?: 'good' | 'bad', act?: import('./parts/toasts.js').ToastAct) => void} say shows a message for a while, with an act that it offers
 * @property {() => void} signIn
 */

/** @type {import('./lib/preact.js').Context<Shared | undefined>} */
export const SharedContext = createContext(/** @type {Shared | undefined} */ (undefined))

export function useShared() {
  const shared = useContext(SharedContext)
  if (!shared) throw new Error('a page is outside of the application')
  return shared
}

/** True where the viewer may change things. */
export function useMayAct() {
  return useShared().session.role === 'operator'
}

/** True where the viewer may do what is for admins. */
export function useIsAdmin() {
  return useShared().session.rights === 'admin'
}

/**
 * The globs of a viewer who sees a part of the functions and queues alone, in words; undefined: all of them.
 *
 * @returns {string | undefined}
 */
export function useOwnGlobs() {
  return useShared().session.queues?.join(', ')
}

/** Draws the component again with each snapshot. */
export function useLive() {
  const { live } = useShared()
  const [, redraw] = useReducer((/** @type {number} */ turn) => turn + 1, 0)
  useEffect(() => {
    const listener = () => redraw(undefined)
    live.listeners.add(listener)
    return () => {
      live.listeners.delete(listener)
    }
  }, [live])
  return live
}

/** Time between two reads, and from one that failed to the next, ms. */
const usualMs = 2_000

/**
 * A reading of the API: its data or its error.
 *
 * @template Answer
 * @typedef {object} Reading
 * @property {Answer | undefined} data the last answer
 * @property {string | undefined} error why the last call failed, in words
 * @property {string | undefined} code the same as a code of the API
 * @property {boolean} isFresh `data` answers the query as it is now
 * @property {'true' | 'false'} busy for `aria-busy`: what is shown is about to change
 * @property {() => void} reload
 */

/**
 * Reads from the API, at once and then every `everyMs` while the page can be seen; 0: until it is read once.
 *
 * @template Answer
 * @param {string} path
 * @param {import('./api.js').Query} [query]
 * @param {number} [everyMs]
 * @returns {Reading<Answer>}
 */
export function useRead(path, query = {}, everyMs = usualMs) {
  const { api } = useShared()
  const key = JSON.stringify([path, query])
  const [state, setState] = useState(
    /** @type {{ key: string, failed?: string, data?: Answer, error?: string, code?: string }} */ ({
      key: '',
    }),
  )
  const [turn, reload] = useReducer((/** @type {number} */ before) => before + 1, 0)
  // After an act of the viewer the list is read anew, though the query is the same.
  const mark = `${turn} ${key}`
  const latest = useRef(query)
  latest.current = query
  useEffect(() => {
    const abort = new AbortController()
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    const again = (/** @type {number} */ waitMs) => {
      if (waitMs > 0 && !abort.signal.aborted) timer = setTimeout(() => void read(), waitMs)
    }
    const read = async () => {
      if (document.hidden) {
        again(everyMs || usualMs)
        return
      }
      let waitMs = everyMs
      try {
        const data = /** @type {Answer} */ (await api.get(path, latest.current, abort.signal))
        if (!abort.signal.aborted) setState({ key: mark, data })
      } catch (error) {
        if (abort.signal.aborted) return
        const why = { error: wordsOf(error), code: codeOf(error) }
        setState((before) => ({ ...before, failed: mark, ...why }))
        waitMs = everyMs || usualMs
      }
      again(waitMs)
    }
    void read()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [api, key, path, everyMs, turn])
  return {
    data: state.data,
    error: state.error,
    code: state.code,
    isFresh: state.key === mark,
    busy: state.key === mark || state.failed === mark ? 'false' : 'true',
    reload: () => reload(undefined),
  }
}

/**
 * An act of the viewer: if it is under way, and why it failed.
 *
 * @param {() => Promise<void>} act
 */
export function useAct(act) {
  const [{ isBusy, error }, setState] = useState(
    /** @type {{ isBusy: boolean, error?: string }} */ ({ isBusy: false }),
  )
  const run = async () => {
    setState({ isBusy: true })
    try {
      await act()
      setState({ isBusy: false })
    } catch (refusal) {
      setState({ isBusy: false, error: wordsOf(refusal) })
    }
  }
  return { isBusy, error, run: () => void run() }
}

/** The present by the clock of the store, drawn anew every second. */
export function useNow() {
  const { live } = useShared()
  const [, redraw] = useReducer((/** @type {number} */ turn) => turn + 1, 0)
  useEffect(() => {
    const timer = setInterval(() => redraw(undefined), 1_000)
    return () => clearInterval(timer)
  }, [])
  return live.nowMs
}

/**
 * A value that has stood still for a moment: a search is not made for each letter.
 *
 * @template Value
 * @param {(value: Value) => void} act
 * @param {number} [waitMs]
 */
export function useDebounced(act, waitMs = 250) {
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined))
  // Another filter that changes meanwhile stays: the act of the last drawing is done.
  const latest = useRef(act)
  latest.current = act
  useEffect(() => () => clearTimeout(timer.current), [])
  return (/** @type {Value} */ value) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => latest.current(value), waitMs)
  }
}
