import { html } from '../html.js'
import { useEffect, useState } from '../lib/hooks.js'
import { pathWith } from '../api.js'
import { useShared } from '../state.js'

/** @typedef {import('../types.d.ts').Found} Found */
/** @typedef {{ readonly names: readonly string[], readonly doubt: string }} Known */

/** Pause in typing after which a name is looked up, ms. */
const typingMs = 250

/** @type {Known} */
const nothing = { names: [], doubt: '' }

/**
 * A field for the name of a function or a queue, which suggests names and warns of one that nobody serves.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.name
 * @param {'function' | 'queue'} props.kind
 * @param {string} props.value
 * @param {(value: string) => void} props.onInput
 * @param {boolean} [props.required]
 */
export function NameField({ label, name, kind, value, onInput, required = false }) {
  const { api } = useShared()
  const [{ names, doubt }, setKnown] = useState(nothing)
  useEffect(() => {
    setKnown((before) => ({ ...before, doubt: '' }))
    if (value === '') return undefined
    let isOver = false
    const look = async () => {
      const known = await lookUp(api, kind, value).catch(() => nothing)
      if (!isOver) setKnown(known)
    }
    const timer = setTimeout(() => void look(), typingMs)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [api, kind, value])
  const form =
    kind === 'queue' ? { pattern: '[a-zA-Z0-9._\\-]+', maxlength: 255 } : { maxlength: 512 }
  return html`<label class="field">
    <span>${label}</span>
    <input
      type="text"
      list=${`names-of-${name}`}
      name=${name}
      value=${value}
      required=${required}
      ...${form}
      autocomplete="off"
      onInput=${(/** @type {InputEvent} */ event) =>
        onInput(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
    />
    <datalist id=${`names-of-${name}`}>
      ${names.map((one) => html`<option key=${one} value=${one}></option>`)}
    </datalist>
    <span class="muted" role="status" data-doubt=${doubt === '' ? undefined : name}>${doubt}</span>
  </label>`
}

/**
 * Names that contain a text, and why nobody may serve the one of that name.
 *
 * @param {import('../api.js').Api} api
 * @param {'function' | 'queue'} kind
 * @param {string} value
 * @returns {Promise<Known>}
 */
async function lookUp(api, kind, value) {
  const found = /** @type {Found} */ (await api.get('/search', { q: value }))
  const names = kind === 'function' ? found.functions : found.queues
  if (!names.includes(value)) {
    return { names, doubt: `No job has come to a ${kind} of this name so far: is it right?` }
  }
  const workers = kind === 'function' ? await workersOf(api, value) : await consumersOf(api, value)
  return { names, doubt: workers === 0 ? `No worker serves this ${kind} now.` : '' }
}

/**
 * @param {import('../api.js').Api} api
 * @param {string} fn
 */
async function workersOf(api, fn) {
  const one = /** @type {import('../types.d.ts').OneFunction} */ (
    await api.get(pathWith('/functions', fn))
  )
  return one.workers
}

/**
 * @param {import('../api.js').Api} api
 * @param {string} queue
 */
async function consumersOf(api, queue) {
  const one = /** @type {import('../types.d.ts').OneQueue} */ (
    await api.get(pathWith('/queues', queue))
  )
  return one.entries.reduce((sum, { workers }) => sum + workers, 0)
}
