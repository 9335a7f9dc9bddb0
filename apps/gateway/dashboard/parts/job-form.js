import { html } from '../html.js'
import { NameField } from './name-field.js'

/**
 * Fields of a job that an operator may set.
 *
 * @typedef {object} JobTerms
 * @property {string} queue
 * @property {string} level
 * @property {string} delay seconds
 * @property {string} payload
 */

/**
 * @param {object} props
 * @param {JobTerms} props.terms
 * @param {(changes: Partial<JobTerms>) => void} props.onChange
 * @param {string} [props.payloadHint]
 * @param {boolean} [props.hasPayload] it can be edited here
 * @param {boolean} [props.hasQueue] it can be chosen here
 */
export function JobForm({ terms, onChange, payloadHint, hasPayload = true, hasQueue = true }) {
  return html`<div class="stack">
    <div class="fields">
      ${
        hasQueue &&
        html`<${NameField}
        label="Queue"
        name="queue"
        kind="queue"
        value=${terms.queue}
        onInput=${(/** @type {string} */ queue) => onChange({ queue })}
      />`
      }
      <${TextField}
        label="Level, 1 to 9"
        name="level"
        terms=${terms}
        onChange=${onChange}
        pattern="[1-9]"
      />
      <${TextField}
        label="Delay, seconds"
        name="delay"
        terms=${terms}
        onChange=${onChange}
        pattern="[0-9]+"
      />
    </div>
    ${
      hasPayload &&
      html`<label class="field">
      <span>Payload</span>
      <textarea
        name="payload"
        spellcheck=${false}
        value=${terms.payload}
        onInput=${(/** @type {InputEvent} */ event) =>
          onChange({ payload: /** @type {HTMLTextAreaElement} */ (event.currentTarget).value })}
      ></textarea>
    </label>`
    }
    ${payloadHint && html`<p class="muted">${payloadHint}</p>`}
  </div>`
}

/**
 * @param {object} props
 * @param {string} props.label
 * @param {keyof JobTerms} props.name
 * @param {JobTerms} props.terms
 * @param {(changes: Partial<JobTerms>) => void} props.onChange
 * @param {string} props.pattern
 */
function TextField({ label, name, terms, onChange, pattern }) {
  return html`<label class="field">
    <span>${label}</span>
    <input
      type="text"
      name=${name}
      value=${terms[name]}
      pattern=${pattern}
      maxlength="255"
      autocomplete="off"
      onInput=${(/** @type {InputEvent} */ event) =>
        onChange({ [name]: /** @type {HTMLInputElement} */ (event.currentTarget).value })}
    />
  </label>`
}

/**
 * The terms as the API takes them, without what was left as it is.
 *
 * @param {JobTerms} terms
 */
export function termsOf({ queue, level, delay }) {
  return {
    ...(queue !== '' && { queue }),
    ...(level !== '' && { level: Number(level) }),
    ...(delay !== '' && { delay_seconds: Number(delay) }),
  }
}
