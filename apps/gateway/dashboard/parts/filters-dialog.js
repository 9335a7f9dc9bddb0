import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { maxNameLength, removeFilter, savedFilters, saveFilter } from '../saved-filters.js'
import { Form, Name, Trouble } from './bits.js'
import { Dialog } from './dialog.js'

/**
 * Filters with names: opens or removes one, and keeps the present one.
 *
 * @param {{ href: string, onClose: () => void }} props
 */
export function FiltersDialog({ href, onClose }) {
  const [saved, setSaved] = useState(savedFilters())
  const [name, setName] = useState('')
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined))
  const save = () => {
    setError(saveFilter({ name: name.trim(), href }))
    setSaved(savedFilters())
    setName('')
  }
  return html`<${Dialog} title="Saved filters" onClose=${onClose}>
    <${Form} class="stack" onSubmit=${save}>
      <label class="field">
        <span>Name of the present filter</span>
        <input
          type="text"
          required
          pattern=".*\\S.*"
          maxlength=${maxNameLength}
          autocomplete="off"
          value=${name}
          onInput=${(/** @type {InputEvent} */ event) =>
            setName(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
        />
      </label>
      <${Trouble} error=${error} />
      <footer><button type="submit" class="primary">Save</button></footer>
    <//>
    ${
      saved.length === 0
        ? html`<p class="muted">None so far. They are kept in this browser.</p>`
        : html`<ul class="saved">
          ${saved.map(
            (filter) =>
              html`<li key=${filter.name}>
              <a href=${filter.href} onClick=${onClose}><${Name} name=${filter.name} /></a>
              <button
                type="button"
                class="quiet small"
                aria-label=${`Remove ${filter.name}`}
                onClick=${() => {
                  removeFilter(filter.name)
                  setSaved(savedFilters())
                }}
              >
                Remove
              </button>
            </li>`,
          )}
        </ul>`
    }
  <//>`
}
