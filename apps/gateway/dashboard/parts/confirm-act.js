import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { useAct, useShared } from '../state.js'
import { Trouble } from './bits.js'
import { Confirm } from './dialog.js'
import { SweepDialog } from './sweep-dialog.js'

/**
 * An act that is asked for: one call of the API, or the deletion of the jobs of a place.
 *
 * @typedef {Call | { readonly sweep: import('./sweep-dialog.js').Sweep }} Order
 */

/**
 * An act that is one call of the API.
 *
 * @typedef {object} Call
 * @property {string} title
 * @property {string} label of its button
 * @property {string} path of the API
 * @property {object} body
 * @property {string | ((answer: unknown) => string)} said when it is done
 * @property {boolean} [isDanger]
 * @property {import('../lib/preact.js').ComponentChildren} means shown before it is done
 */

/**
 * Asks for orders: `ask` opens the dialog of one, which is drawn at the place of `dialog`.
 *
 * @param {() => void} onDone
 */
export function useOrders(onDone) {
  const [order, setOrder] = useState(/** @type {Order | undefined} */ (undefined))
  const onClose = () => setOrder(undefined)
  const done = () => {
    onClose()
    onDone()
  }
  const dialog =
    order &&
    ('sweep' in order
      ? html`<${SweepDialog} sweep=${order.sweep} onClose=${onClose} onDone=${done} />`
      : html`<${ConfirmAct} order=${order} onClose=${onClose} onDone=${done} />`)
  return { ask: setOrder, dialog }
}

/**
 * Says what an act means, and does it once the user confirms.
 *
 * @param {object} props
 * @param {Call} props.order
 * @param {() => void} props.onClose
 * @param {() => void} props.onDone
 */
function ConfirmAct({ order, onClose, onDone }) {
  const { api, say } = useShared()
  const { title, label, path, body, said, isDanger = false, means } = order
  const { isBusy, error, run } = useAct(async () => {
    const answer = await api.post(path, body)
    say(typeof said === 'string' ? said : said(answer))
    onDone()
  })
  return html`<${Confirm}
    act=${label}
    onConfirm=${run}
    title=${title}
    isDanger=${isDanger}
    isBusy=${isBusy}
    onClose=${onClose}
  >
    ${means}
    <${Trouble} error=${error} />
  <//>`
}
