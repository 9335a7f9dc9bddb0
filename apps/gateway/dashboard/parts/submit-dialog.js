import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { wordsOf } from '../api.js'
import { go, hrefOf } from '../router.js'
import { useShared } from '../state.js'
import { Trouble } from './bits.js'
import { Dialog } from './dialog.js'
import { JobForm, termsOf } from './job-form.js'

/**
 * Hands in a new background job.
 *
 * @param {{ onClose: () => void }} props
 */
export function SubmitDialog({ onClose }) {
  const { api, say } = useShared()
  const [fn, setFunction] = useState('')
  const [terms, setTerms] = useState({ queue: '', level: '', delay: '', payload: '' })
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined))
  const [isBusy, setBusy] = useState(false)
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const body = { function: fn, ...termsOf(terms), payload: { text: terms.payload } }
      const { job } = /** @type {{ job: string }} */ (await api.post('/jobs', body))
      say('The job is handed in.')
      onClose()
      go(hrefOf('job', job))
    } catch (refusal) {
      setError(wordsOf(refusal))
      setBusy(false)
    }
  }
  return html`<${Dialog} title="New job" isWide onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      <label class="field">
        <span>Function, which is a Faktory jobtype</span>
        <input
          type="text"
          name="function"
          required
          maxlength="512"
          autocomplete="off"
          value=${fn}
          onInput=${(/** @type {InputEvent} */ event) =>
            setFunction(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
        />
      </label>
      <${JobForm}
        terms=${terms}
        onChange=${(/** @type {object} */ changes) => setTerms({ ...terms, ...changes })}
        payloadHint="A Faktory worker gets a JSON array as its arguments, anything else as the one argument."
      />
      <${Trouble} error=${error} />
      <footer>
        <button type="button" onClick=${onClose}>Back</button>
        <button type="submit" class="primary" disabled=${isBusy}>Submit the job</button>
      </footer>
    </form>
  <//>`
}
