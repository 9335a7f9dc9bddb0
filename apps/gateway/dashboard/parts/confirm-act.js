import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { wordsOf } from '../api.js'
import { useShared } from '../state.js'
import { Trouble } from './bits.js'
import { Confirm } from './dialog.js'

/**
 * An act that is one call of the API.
 *
 * @typedef {object} Order
 * @property {string} title
 * @property {string} label of its button
 * @property {string} path of the API
 * @property {object} body
 * @property {string} said when it is done
 * @property {boolean} [isDanger]
 * @property {import('../lib/preact.js').ComponentChildren} means shown before it is done
 */

/**
 * Says what an act means, and does it when told to.
 *
 * @param {object} props
 * @param {Order} props.order
 * @param {() => void} props.onClose
 * @param {() => void} props.onDone
 */
export function ConfirmAct({ order, onClose, onDone }) {
  const { api, say } = useShared()
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined))
  const { title, label, path, body, said, isDanger = false, means } = order
  const run = async () => {
    try {
      await api.post(path, body)
      say(said)
      onDone()
    } catch (refusal) {
      setError(wordsOf(refusal))
    }
  }
  return html`<${Confirm} title=${title} act=${label} isDanger=${isDanger} onConfirm=${() => void run()} onClose=${onClose}>
    ${means}
    <${Trouble} error=${error} />
  <//>`
}
