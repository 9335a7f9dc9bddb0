import { doors } from '../doors.js'
import { html } from '../html.js'
import { useEffect, useRef, useState } from '../lib/hooks.js'
import { useDebounced, useNow, useOwnGlobs } from '../state.js'
import { fromNow, stamp } from '../format.js'
import { visible } from '../payload-text.js'

/** @typedef {import('../lib/preact.js').ComponentChildren} Children */

/**
 * @param {object} props
 * @param {string} props.title
 * @param {Children} [props.hint] what the page is about
 * @param {Children} [props.children] acts
 */
export function PageHead({ title, hint, children }) {
  useEffect(() => {
    document.title = `${title} · Crossgear`
  }, [title])
  return html`<header class="page-head">
    <div>
      <h1 tabindex="-1"><bdi>${visible(title)}</bdi></h1>
      ${hint && html`<p class="muted">${hint}</p>`}
    </div>
    <div class="acts">${children}</div>
  </header>`
}

const stateWords = /** @type {Readonly<Record<string, string>>} */ ({
  waiting: 'Waiting',
  running: 'Running',
  scheduled: 'Scheduled',
  retry: 'Retrying',
  dead: 'Dead',
  succeeded: 'Succeeded',
  failed: 'Failed',
})

/** @param {{ state: string }} props */
export function StateBadge({ state }) {
  const tone = Object.hasOwn(stateWords, state) ? state : 'neutral'
  return html`<span class=${`badge ${tone}`}>${stateWords[state] ?? state}</span>`
}

/** @param {{ tone?: string, children?: Children }} props */
export function Badge({ tone = 'neutral', children }) {
  return html`<span class=${`badge ${tone}`}>${children}</span>`
}

/** @param {string} door */
export function doorName(door) {
  return doors.find(({ name }) => name === door)?.title ?? door
}

/**
 * A placeholder for an empty list: the reason, and the next thing to do. A viewer who sees a part of all reads so.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {Children} [props.children]
 */
export function Empty({ title, children }) {
  const own = useOwnGlobs()
  return html`<div class="empty">
    <p class="empty-title">${title}</p>
    <div class="muted">
      ${children}
      ${
        own !== undefined &&
        html`<p>Of jobs, functions, queues and cron entries you see those of <${Text} text=${own} /> alone.</p>`
      }
    </div>
  </div>`
}

/** @param {{ children?: Children }} props */
export function Code({ children }) {
  return html`<code>${children}</code>`
}

/** @param {{ error: string | undefined }} props */
export function Trouble({ error }) {
  return error === undefined ? null : html`<p class="notice bad" role="alert">${error}</p>`
}

/** Codes of the API that say that there is no such thing. */
const absent = new Set([
  'unknown_job',
  'unknown_function',
  'unknown_queue',
  'unknown_batch',
  'unknown_worker',
  'not_found',
])

/** Titles of what keeps a page from being shown, by the code of the API. */
const obstacles = /** @type {Readonly<Record<string, string>>} */ ({
  unreachable: 'No connection',
  store_unavailable: 'The gateway cannot reach its store',
  not_running: 'The gateway is not ready',
  not_yours: 'This is not yours',
  too_many_requests: 'The gateway is busy',
  former_version: 'The gateway is of a former version',
})

/**
 * Stands in the place of one thing while nothing of it is known: it is being read, there is none, or something keeps it
 * from being read.
 *
 * @param {object} props
 * @param {Pick<import('../state.js').Reading<unknown>, 'error' | 'code'>} props.reading
 * @param {string} props.none the title where there is no such thing
 * @param {Children} [props.children] the reason why there may be none
 * @param {Children} [props.others] a link to where others are
 */
export function NotShown({ reading: { error, code = '' }, none, children, others }) {
  if (error === undefined) return html`<${Loading} />`
  const isAbsent = absent.has(code)
  const title = isAbsent ? none : (obstacles[code] ?? 'It cannot be read')
  return html`<${Empty} title=${title}>
    ${isAbsent && children}
    <p role="alert">${error}</p>
    ${isAbsent ? '' : html`<p>The page tries again by itself.</p>`}
    ${others && html`<p>${others}</p>`}
  <//>`
}

/**
 * A form that the page itself takes, instead of the browser.
 *
 * @param {{ class?: string, onSubmit: () => void, children?: Children }} props
 */
export function Form({ class: kind, onSubmit, children }) {
  return html`<form
    class=${kind}
    onSubmit=${(/** @type {Event} */ event) => {
      event.preventDefault()
      onSubmit()
    }}
  >
    ${children}
  </form>`
}

/** Bars where data comes soon. */
export function Loading() {
  return html`<div class="loading" role="status">
    <span class="unseen">Loading</span><i></i><i></i><i></i>
  </div>`
}

/**
 * A field that searches while one types.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.value
 * @param {(value: string) => void} props.onSearch
 * @param {string} [props.placeholder]
 * @param {number} [props.maxLength]
 */
export function SearchField({ label, value, onSearch, placeholder, maxLength = 128 }) {
  const [text, setText] = useState(value)
  const search = useDebounced(onSearch)
  const field = useRef(/** @type {HTMLInputElement | null} */ (null))
  // The user types faster than the address changes.
  useEffect(() => {
    if (document.activeElement !== field.current) setText(value)
  }, [value])
  return html`<label class="search">
    <span class="unseen">${label}</span>
    <input
      ref=${field}
      type="search"
      data-search=${text === value ? 'done' : 'ahead'}
      value=${text}
      placeholder=${placeholder ?? label}
      maxlength=${maxLength}
      autocomplete="off"
      spellcheck=${false}
      onInput=${(/** @type {InputEvent} */ event) => {
        const { value: typed } = /** @type {HTMLInputElement} */ (event.currentTarget)
        setText(typed)
        search(typed)
      }}
    />
  </label>`
}

/**
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.value
 * @param {readonly (readonly [string, string])[]} props.options value and words
 * @param {(value: string) => void} props.onChange
 */
export function Choice({ label, value, options, onChange }) {
  return html`<label class="choice">
    <span>${label}</span>
    <select
      value=${value}
      onChange=${(/** @type {Event} */ event) =>
        onChange(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
    >
      ${options.map(
        ([word, words]) =>
          html`<option key=${word} value=${word} selected=${word === value}>${words}</option>`,
      )}
    </select>
  </label>`
}

/**
 * A few views of one thing.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.value
 * @param {readonly (readonly [string, string])[]} props.options value and words
 * @param {(value: string) => void} props.onChange
 */
export function Switch({ label, value, options, onChange }) {
  return html`<div class="switch" role="group" aria-label=${label}>
    ${options.map(
      ([word, words]) =>
        html`<button
        key=${word}
        type="button"
        aria-pressed=${word === value ? 'true' : 'false'}
        onClick=${() => onChange(word)}
      >
        ${words}
      </button>`,
    )}
  </div>`
}

/**
 * A time as its distance from now; the time itself where one points.
 *
 * @param {{ time: string | null }} props
 */
export function When({ time }) {
  const nowMs = useNow()
  if (time === null) return html`<span class="muted">–</span>`
  return html`<time datetime=${time} title=${stamp(time)}>${fromNow(time, nowMs)}</time>`
}

/**
 * A text from outside, which stays apart from the words around it.
 *
 * @param {{ text: string }} props
 */
export function Text({ text }) {
  return html`<bdi>${visible(text)}</bdi>`
}

/**
 * A name from outside: it may be of any script, and stays as it is.
 *
 * @param {{ name: string }} props
 */
export function Name({ name }) {
  const shown = visible(name)
  return html`<bdi class="name" title=${shown}>${shown}</bdi>`
}
