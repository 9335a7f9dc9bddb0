import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { useAct, useShared } from '../state.js'
import { Form, Trouble } from './bits.js'
import { Dialog } from './dialog.js'

/** @typedef {import('../types.d.ts').Cron['cron'][number]} Entry */

/** A job to begin with. */
const sample = { type: '', queue: 'default', args: [] }

/** Fields of one line, and what is typed there. */
const fields = /** @type {const} */ ([
  ['name', 'Name', 'nightly report'],
  ['schedule', 'Schedule', '0 3 * * 1-5, or @daily'],
  ['timezone', 'Time zone', 'Europe/Berlin'],
])

/**
 * Adds an entry, or changes one that was added; the gateway says what is wrong with it.
 *
 * @param {{ entry: Entry | undefined, onClose: () => void, onDone: () => void }} props
 */
export function CronDialog({ entry, onClose, onDone }) {
  const { api, say } = useShared()
  const [given, setGiven] = useState({
    name: entry?.name ?? '',
    schedule: entry?.schedule ?? '',
    timezone: entry?.timezone ?? 'UTC',
    job: JSON.stringify(entry?.job ?? sample, null, 2),
  })
  const { isBusy, error, run } = useAct(async () => {
    await api.post('/cron', { ...given, job: jobIn(given.job) })
    say(entry ? 'The entry is changed.' : 'The entry is added.')
    onDone()
  })
  const change =
    (/** @type {string} */ name) =>
    (/** @type {InputEvent} */ { currentTarget }) => {
      const { value } = /** @type {HTMLInputElement} */ (currentTarget)
      setGiven({ ...given, [name]: value })
    }
  return html`<${Dialog} title=${entry ? 'Edit the entry' : 'New entry'} isWide onClose=${onClose}>
    <${Form} class="stack" onSubmit=${run}>
      ${fields.map(
        ([name, label, placeholder]) =>
          html`<label class="field" key=${name}>
          <span>${label}</span>
          <input
            type="text"
            name=${name}
            required
            maxlength="255"
            autocomplete="off"
            placeholder=${placeholder}
            readonly=${name === 'name' && entry !== undefined}
            value=${given[name]}
            onInput=${change(name)}
          />
        </label>`,
      )}
      <label class="field">
        <span>Faktory job, as JSON: its type, queue, args and more</span>
        <textarea name="job" required spellcheck=${false} value=${given.job} onInput=${change('job')}></textarea>
      </label>
      <${Trouble} error=${error} />
      <footer>
        <button type="button" onClick=${onClose}>Back</button>
        <button type="submit" class="primary" disabled=${isBusy}>${entry ? 'Change' : 'Add'}</button>
      </footer>
    <//>
  <//>`
}

/** @param {string} text */
function jobIn(text) {
  try {
    return /** @type {unknown} */ (JSON.parse(text))
  } catch (error) {
    throw new Error(`the job is no JSON: ${error instanceof Error ? error.message : ''}`)
  }
}
