import { html } from '../html.js'

/** @typedef {{ readonly id: number, readonly words: string, readonly kind: 'good' | 'bad' }} Toast */

/** How long a message stays, ms. */
export const toastMs = 6_000

/**
 * Messages about what was done, read out by screen readers.
 *
 * @param {{ toasts: readonly Toast[], onClose: (id: number) => void }} props
 */
export function Toasts({ toasts, onClose }) {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.map(
      ({ id, words, kind }) =>
        html`<div key=${id} class=${`toast ${kind}`}>
        <span>${words}</span>
        <button type="button" class="quiet" aria-label="Dismiss" onClick=${() => onClose(id)}>
          ✕
        </button>
      </div>`,
    )}
  </div>`
}
