import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { pathWith } from '../api.js'
import { indented } from '../payload-text.js'
import { go, hrefOf } from '../router.js'
import { useAct, useRead, useShared } from '../state.js'
import { Form, Loading, Trouble } from './bits.js'
import { Dialog } from './dialog.js'
import { JobForm, termsOf } from './job-form.js'
import { NameField } from './name-field.js'

/** @typedef {import('../types.d.ts').JobDetail} JobDetail */
/** @typedef {import('./job-form.js').JobTerms} JobTerms */

/**
 * Hands in a new background job.
 *
 * @param {{ onClose: () => void }} props
 */
export function SubmitDialog({ onClose }) {
  const [fn, setFunction] = useState('')
  return html`<${HandIn}
    title="New job"
    label="Submit the job"
    said="The job is handed in."
    path="/jobs"
    bodyOf=${(/** @type {JobTerms} */ terms) => ({
      function: fn,
      ...termsOf(terms),
      payload: { text: terms.payload },
    })}
    payload=""
    payloadHint="A Faktory worker gets a JSON array as its arguments, anything else as the one argument."
    onClose=${onClose}
  >
    <${NameField}
      label="Function, which is a Faktory jobtype"
      name="function"
      kind="function"
      value=${fn}
      onInput=${setFunction}
      required
    />
  <//>`
}

/** States of jobs that another one may replace. */
const replaceable = ['waiting', 'scheduled', 'retry', 'dead']

/**
 * Hands a job in once more, as it is or changed, once its payload is read.
 *
 * @param {{ id: string, onClose: () => void }} props
 */
export function ResubmitDialog({ id, onClose }) {
  /** @type {import('../state.js').Reading<JobDetail>} */
  const { data, error } = useRead(pathWith('/jobs', id), { payload: 'text' }, 0)
  if (data) return html`<${Resubmit} job=${data} onClose=${onClose} />`
  return html`<${Dialog} title="Edit and resubmit" onClose=${onClose}>
    ${error === undefined ? html`<${Loading} />` : html`<${Trouble} error=${error} />`}
  <//>`
}

/**
 * The old job stays, or the new one takes its place. The bytes stay the same unless the text is edited.
 *
 * @param {object} props
 * @param {JobDetail} props.job with its payload as text where it is one
 * @param {() => void} props.onClose
 */
function Resubmit({ job, onClose }) {
  const { value, form, is_cut: isCut } = job.payload
  const before = form === 'text' && !isCut ? String(value) : undefined
  const mayReplace =
    replaceable.includes(job.state) && job.waiting_clients === 0 && job.door !== 'native'
  const [isReplaced, setReplaced] = useState(false)
  const act = isReplaced ? 'replace' : 'resubmit'
  return html`<${HandIn}
    title="Edit and resubmit"
    label=${isReplaced ? 'Replace the job' : 'Submit the new job'}
    said=${isReplaced ? 'The job is replaced.' : 'A new job is handed in.'}
    path=${pathWith('/jobs', job.id, `/${act}`)}
    bodyOf=${(/** @type {JobTerms} */ terms) => ({
      ...termsOf(isReplaced ? { ...terms, queue: '' } : terms),
      ...(before !== undefined && terms.payload !== before && { payload: { text: terms.payload } }),
    })}
    payload=${before}
    isJson=${before !== undefined && indented(before) !== undefined}
    payloadHint=${before === undefined ? 'The payload is no short text: it goes along as it is, byte for byte.' : ''}
    hasQueue=${!isReplaced}
    onClose=${onClose}
  >
    <p>
      ${
        isReplaced
          ? 'In one step this job leaves and the new one takes its place, with its jid, its unique id and all that is left empty here. If a worker takes it first, nothing is changed.'
          : 'A new background job of the same function is handed in, and names this one, which stays as it is. The new one has another jid; fields that are left empty are as they are here.'
      }
    </p>
    ${
      mayReplace &&
      html`<label class="check">
      <input
        type="checkbox"
        name="replace"
        checked=${isReplaced}
        onChange=${() => setReplaced(!isReplaced)}
      />
      Replace the old job
    </label>`
    }
  <//>`
}

/**
 * @param {object} props
 * @param {string} props.title
 * @param {string} props.label of the button
 * @param {string} props.said when it is done
 * @param {string} props.path of the API
 * @param {(terms: JobTerms) => object} props.bodyOf
 * @param {string | undefined} props.payload to begin with; undefined: it cannot be edited here
 * @param {string} props.payloadHint
 * @param {boolean} [props.isJson] the payload has to be JSON, as it was
 * @param {boolean} [props.hasQueue] it may go to another queue
 * @param {() => void} props.onClose
 * @param {import('../lib/preact.js').ComponentChildren} props.children above the terms
 */
function HandIn({
  title,
  label,
  said,
  path,
  bodyOf,
  payload,
  payloadHint,
  isJson = false,
  hasQueue = true,
  onClose,
  children,
}) {
  const { api, say } = useShared()
  const [terms, setTerms] = useState({ queue: '', level: '', delay: '', payload: payload ?? '' })
  const { isBusy, error, run } = useAct(async () => {
    const { job } = /** @type {{ job: string }} */ (await api.post(path, bodyOf(terms)))
    say(said)
    onClose()
    go(hrefOf('job', job))
  })
  const fault = isJson ? faultOf(terms.payload) : undefined
  return html`<${Dialog} title=${title} isWide onClose=${onClose}>
    <${Form} class="stack" onSubmit=${run}>
      ${children}
      <${JobForm}
        terms=${terms}
        payloadHint=${payloadHint}
        hasQueue=${hasQueue}
        hasPayload=${payload !== undefined}
        onChange=${(/** @type {Partial<JobTerms>} */ changes) => setTerms({ ...terms, ...changes })}
      />
      <${Trouble} error=${error ?? (fault && `The payload was JSON, and is none any more: ${fault}`)} />
      <footer>
        <button type="button" onClick=${onClose}>Back</button>
        <button type="submit" class="primary" disabled=${isBusy || fault !== undefined}>${label}</button>
      </footer>
    <//>
  <//>`
}

/**
 * Why a text is no JSON; undefined for one that is.
 *
 * @param {string} text
 */
function faultOf(text) {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
