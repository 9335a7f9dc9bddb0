import { html } from '../html.js'

/**
 * An act that a message offers.
 *
 * @typedef {{ readonly label: string, readonly run: () => void }} ToastAct
 */

/** @typedef {{ readonly id: number, readonly words: string, readonly kind: 'good' | 'bad', readonly act?: ToastAct | undefined }} Toast */

/** How long a message stays, and one that offers an act, ms. */
export const toastMs = { usual: 6_000, withAct: 20_000 }

/**
 * Messages about what was done, read out by screen readers.
 *
 * @param {{ toasts: readonly Toast[], onClose: (id: number) => void }} props
 */
export function Toasts({ toasts, onClose }) {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.map(
      ({ id, words, kind, act }) =>
        html`<div key=${id} class=${`toast ${kind}`}>
        <span>${words}</span>
        ${
          act &&
          html`<button
          type="button"
          class="small"
          onClick=${() => {
            onClose(id)
            act.run()
          }}
        >
          ${act.label}
        </button>`
        }
        <button type="button" class="quiet" aria-label="Dismiss" onClick=${() => onClose(id)}>
          ✕
        </button>
      </div>`,
    )}
  </div>`
}
