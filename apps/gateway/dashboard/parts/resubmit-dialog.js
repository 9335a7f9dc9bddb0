import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { pathWith, wordsOf } from '../api.js'
import { go, hrefOf } from '../router.js'
import { useShared } from '../state.js'
import { Trouble } from './bits.js'
import { Dialog } from './dialog.js'
import { JobForm, termsOf } from './job-form.js'

/** @typedef {import('../types.d.ts').JobDetail} JobDetail */

/**
 * Hands a job in once more, as it is or changed. The bytes stay the same unless the text is edited.
 *
 * @param {object} props
 * @param {JobDetail} props.job with its payload as text where it is one
 * @param {() => void} props.onClose
 */
export function ResubmitDialog({ job, onClose }) {
  const { api, say } = useShared()
  const { value, form, is_cut: isCut } = job.payload
  const isText = form === 'text' && !isCut
  const before = isText ? String(value) : ''
  const [terms, setTerms] = useState({ queue: '', level: '', delay: '', payload: before })
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined))
  const [isBusy, setBusy] = useState(false)
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const edited = isText && terms.payload !== before && { payload: { text: terms.payload } }
      const path = pathWith('/jobs', job.id, '/resubmit')
      const answer = await api.post(path, { ...termsOf(terms), ...edited })
      say('A new job is handed in.')
      onClose()
      go(hrefOf('job', /** @type {{ job: string }} */ (answer).job))
    } catch (refusal) {
      setError(wordsOf(refusal))
      setBusy(false)
    }
  }
  return html`<${Dialog} title="Edit and resubmit" isWide onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      <p>
        A new background job of the same function is handed in, and names this one. This one stays
        as it is. Fields that are left empty stay as they are.
      </p>
      <${JobForm}
        terms=${terms}
        hasPayload=${isText}
        onChange=${(/** @type {object} */ changes) => setTerms({ ...terms, ...changes })}
        payloadHint=${isText ? '' : 'The payload is no short text: it goes along as it is, byte for byte.'}
      />
      <${Trouble} error=${error} />
      <footer>
        <button type="button" onClick=${onClose}>Back</button>
        <button type="submit" class="primary" disabled=${isBusy}>Submit the new job</button>
      </footer>
    </form>
  <//>`
}
