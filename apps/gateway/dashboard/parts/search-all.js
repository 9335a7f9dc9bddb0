import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { wordsOf } from '../api.js'
import { go, hrefOf } from '../router.js'
import { useShared } from '../state.js'
import { Form } from './bits.js'

/** @typedef {import('../types.d.ts').Found} Found */

/** The one search of all pages: Enter opens what has that name, or else searches payloads and errors. */
export function SearchAll() {
  const { api, say } = useShared()
  const [text, setText] = useState('')
  const search = async () => {
    const q = text.trim()
    if (q === '') return
    try {
      const found = /** @type {Found} */ (await api.get('/search', { q }))
      go(placeOf(q, found))
      setText('')
    } catch (error) {
      say(wordsOf(error), 'bad')
    }
  }
  return html`<${Form} class="search-all" onSubmit=${() => void search()}>
    <label class="search">
      <span class="unseen">Search everything</span>
      <input
        type="search"
        data-search-all
        value=${text}
        placeholder="Search everything"
        title="An id, handle, jid, unique id, batch, function or queue; else a part of a payload or an error"
        maxlength="512"
        autocomplete="off"
        spellcheck=${false}
        onInput=${(/** @type {InputEvent} */ event) =>
          setText(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  <//>`
}

/** Letters of a text by which payloads are searched. */
const maxText = 128

/**
 * The page of the one thing that is meant, or that of all that was found.
 *
 * @param {string} q
 * @param {Found} found
 */
export function placeOf(q, { jobs, functions, queues, batch }) {
  const [job] = jobs
  if (job && (jobs.length === 1 || job.by === 'name')) return hrefOf('job', job.id)
  const exact = [
    functions[0] === q && hrefOf('function', q),
    queues[0] === q && hrefOf('queue', q),
    batch !== null && hrefOf('batches', batch),
  ].filter((place) => place !== false)
  if (exact.length === 1 && jobs.length === 0) return exact[0] ?? ''
  if (jobs.length + functions.length + queues.length + exact.length > 0) {
    return hrefOf('search', '', { q })
  }
  return hrefOf('jobs', '', { text: q.slice(0, maxText) })
}
