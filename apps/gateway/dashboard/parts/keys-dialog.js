import { html } from '../html.js'
import { keys } from '../keys.js'
import { Dialog } from './dialog.js'

/** @param {{ onClose: () => void }} props */
export function KeysDialog({ onClose }) {
  return html`<${Dialog} title="Keyboard" onClose=${onClose}>
    <dl class="keys">
      ${keys.map(([key, words]) => [
        html`<dt key=${`${key} key`}><kbd>${key}</kbd></dt>`,
        html`<dd key=${key}>${words}</dd>`,
      ])}
    </dl>
  <//>`
}
